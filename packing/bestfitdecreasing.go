package packing

import "slices"

// BestFitDecreasing is [BestFit] on the samples by descending length. It needs at most 11/9 of the fewest bins and 6/9 of a bin (Dósa,
// Li, Han, Tuza 2013), and in practice, on many samples, a percent or less above the fewest.
//
// Where there are many samples, they cost a few nanoseconds each: the decision takes O(distinct lengths * log capacity) time.
type BestFitDecreasing struct {
	Workers int // goroutines that give the bins out; 0 is 1
}

// Assign implements [Strategy].
func (s BestFitDecreasing) Assign(bin, lengths []int32, limits Limits) int {
	return s.bulk().Assign(bin, lengths, limits)
}

func (s BestFitDecreasing) group(lengths []int32, limits Limits) *Plan {
	return s.bulk().group(lengths, limits)
}

func (s BestFitDecreasing) bulk() bulk {
	return bulk{strategy: s, oneByOne: BestFit{}, workers: s.Workers}
}

// layOut implements bulkStrategy. Bins of equal room are stacked in groups. Sample by sample, best-fit takes the last bin put onto the
// stack of the least room and, when it is done with that bin, puts it onto another; here the next bins of the top group move all at
// once. That turns their order around.
//
// A group that moves loses at least half its room, and a length makes at most two groups more, which bounds the steps.
func (BestFitDecreasing) layOut(m *memory, lengths []lengthCount, limits Limits) *layout {
	m.rooms = m.rooms.reset(limits.Capacity + 1)
	m.top = sized(m.top, limits.Capacity+1)
	var (
		groups   = slices.Grow(m.groups[:0], 2*len(lengths))
		runs     = slices.Grow(m.runs[:0], 3*len(lengths))
		ends     = slices.Grow(m.ends[:0], len(lengths))
		bins     = int32(0)
		capacity = int32(limits.Capacity)
		most     = limits.most()
		rooms    = m.rooms
		top      = m.top // by room: the top of its stack; meaningless unless rooms has it
	)
	push := func(i, room int32) {
		if room == 0 || groups[i].samples == most {
			return
		}
		groups[i].below = -1
		if rooms.add(int(room)) {
			groups[i].below = top[room]
		}
		top[room] = i
	}
	pop := func(room int32) {
		i := groups[top[room]].below
		top[room] = i
		if i < 0 {
			rooms.remove(int(room))
		}
	}
	for k := len(lengths) - 1; k >= 0; k-- {
		length, left := lengths[k].length, int32(lengths[k].count)
		for left > 0 {
			room := int32(rooms.next(int(length)))
			if room < 0 {
				q := min(capacity/length, most)
				whole := left / q
				rest := left - whole*q
				// Bins are opened in ascending order, so that the last is next.
				if whole > 0 {
					runs = append(runs, run{bins, whole, q})
					groups = append(groups, binGroup{first: bins, bins: whole, samples: q, down: true})
					push(int32(len(groups)-1), capacity-q*length)
				}
				bins += whole
				if rest > 0 {
					runs = append(runs, run{bins, 1, rest})
					groups = append(groups, binGroup{first: bins, bins: 1, samples: rest})
					push(int32(len(groups)-1), capacity-rest*length)
					bins++
				}
				break
			}
			at := top[room]
			g := &groups[at]
			q := int32(1)
			if room-length >= length {
				q = room / length
			}
			q = min(q, most-g.samples)
			if int64(q)*int64(g.bins) <= int64(left) {
				left -= q * g.bins
				runs = append(runs, run{g.first, g.bins, q})
				g.samples += q
				g.down = !g.down
				pop(room)
				push(at, room-q*length)
				continue
			}
			whole := left
			if q > 1 {
				whole = left / q
			}
			rest := left - whole*q
			if whole > 0 {
				part := g.split(whole)
				runs = append(runs, run{part.first, whole, q})
				part.samples += q
				part.down = !part.down
				groups = append(groups, part)
				push(int32(len(groups)-1), room-q*length)
			}
			if rest > 0 {
				g = &groups[at]
				part := g.split(1)
				if g.bins == 0 {
					pop(room)
				}
				runs = append(runs, run{part.first, 1, rest})
				part.samples += rest
				groups = append(groups, part)
				push(int32(len(groups)-1), room-rest*length)
			}
			break
		}
		ends = append(ends, int32(len(runs)))
	}
	m.layout = layout{bins: int(bins), runs: runs, ends: ends, groups: groups}
	return &m.layout
}
