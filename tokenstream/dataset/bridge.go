package dataset

// bridge is the layout of Megatron-Bridge, which wants a file of figures beside the shards.
const (
	bridge     = "megatron-bridge"
	bridgeName = "metadata.json"
)

// bridgeFigures is what Megatron-Bridge reads of a packed data set.
type bridgeFigures struct {
	Longest    int     `json:"dataset_max_seqlen"`
	MaxInRow   int     `json:"max_samples_per_bin"`
	PerRow     float64 `json:"packing_factor"`
	Efficiency float64 `json:"packing_efficiency"` // percent
	Capacity   int     `json:"pack_size"`
	Shortest   int     `json:"min_packed_seqlen"`
}

// bridge returns the figures of each split that has statistics.
func (m *Manifest) bridge() []bridgeFigures {
	figures := []bridgeFigures{}
	for _, s := range m.Splits {
		if s.Stats == nil || s.Stats.Rows == 0 {
			continue
		}
		figures = append(figures, bridgeFigures{
			Longest: min(s.Stats.Longest, s.Stats.Capacity), MaxInRow: s.Stats.MaxInRow, PerRow: float64(s.Stats.Segments) / float64(s.Stats.Rows),
			Efficiency: 100 * s.Stats.Fill(), Capacity: s.Stats.Capacity, Shortest: s.Stats.Shortest,
		})
	}
	return figures
}
