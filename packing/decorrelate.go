package packing

// Decorrelate returns a strategy that makes the same bins as s as far as lengths go, but gives them samples of those lengths at random,
// all ways equally likely, and puts the bins into random order. The decreasing strategies otherwise put samples of equal length that
// follow each other in the input into bins that follow each other, and the longest samples into the first bins. Equal seeds give equal
// results.
//
// For the decreasing strategies that costs a few nanoseconds and 4 bytes a sample, for all others another pass over the samples sorted
// by length. The result is no [Streamer]: a stream is decorrelated window by window, see [Windows].
func Decorrelate(s Strategy, seed uint64) Strategy {
	if b, ok := s.(interface{ bulk() bulk }); ok {
		d := b.bulk()
		d.mixed, d.seed = true, seed
		return d
	}
	return decorrelated{s, seed}
}

// decorrelated is [Decorrelate] for any strategy.
type decorrelated struct {
	strategy Strategy
	seed     uint64
}

func (s decorrelated) Assign(bin, lengths []int32, limits Limits) int {
	n := s.strategy.Assign(bin, lengths, limits)
	decorrelate(bin, n, lengths, s.seed)
	return n
}

// draw returns the strategy that draws anew for the k-th time.
func (s decorrelated) draw(k int) Strategy { return decorrelated{s.strategy, anew(s.seed, k)} }

// draw is like [decorrelated.draw]. It has no effect on a strategy that does not draw.
func (s bulk) draw(k int) Strategy {
	s.seed = anew(s.seed, k)
	return s
}

// anew returns the k-th seed that follows from one; the first is that one.
func anew(seed uint64, k int) uint64 {
	if k > 0 {
		seed = scramble(seed + uint64(k)*0x9e3779b97f4a7c15)
	}
	return seed
}

// decorrelate shuffles the bins of samples of equal length, and the n bins.
func decorrelate(bin []int32, n int, lengths []int32, seed uint64) {
	r := random(seed)
	number := r.perm(n)
	order := byLength(lengths)
	for len(order) > 0 {
		k := 1
		for k < len(order) && lengths[order[k]] == lengths[order[0]] {
			k++
		}
		for i := k - 1; i >= 0; i-- {
			j := r.below(i + 1)
			a, b := &bin[order[i]], &bin[order[j]]
			*a, *b = *b, *a
			if n > 0 {
				*a = number[*a]
			}
		}
		order = order[k:]
	}
}

// mix gives the places for samples of each length a random order, and the bins random numbers.
func (out *layout) mix(samples int, seed uint64) {
	r := random(seed)
	out.number = r.perm(out.bins)
	out.bin = make([]int32, 0, samples)
	i := int32(0)
	for k, end := range out.ends {
		first := len(out.bin)
		for ; i < end; i++ {
			of := out.runs[i]
			for range of.rounds {
				out.bin = append(out.bin, out.number[of.first:of.first+of.bins]...)
			}
		}
		places := out.bin[first:]
		r.shuffle(places)
		out.runs[k] = run{int32(first), int32(len(places)), 1}
		out.ends[k] = int32(k + 1)
	}
}

// random is a source of pseudo-random numbers: SplitMix64 (Steele, Lea, Flood 2014). Plans depend on it, so it is not left to a library
// whose next version may draw otherwise.
type random uint64

// below returns a number in [0, n), for n up to 2^31 so evenly that nobody can tell.
func (r *random) below(n int) int {
	*r += 0x9e3779b97f4a7c15
	return int(scramble(uint64(*r)) >> 32 * uint64(n) >> 32)
}

// perm returns the numbers in [0, n) in random order.
func (r *random) perm(n int) []int32 {
	p := make([]int32, n)
	for i := range p {
		j := r.below(i + 1)
		p[i] = p[j]
		p[j] = int32(i)
	}
	return p
}

// shuffle puts x into random order.
func (r *random) shuffle(x []int32) {
	for i := len(x) - 1; i > 0; i-- {
		j := r.below(i + 1)
		x[i], x[j] = x[j], x[i]
	}
}

// scramble is the finalizer of SplitMix64, a bijection.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
