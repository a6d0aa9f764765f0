package mix

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/brimful/brimful/tokenstream"
)

// A Unit is what the weights of a mixture are shares of.
type Unit uint8

const (
	Tokens     Unit = iota // that are in the rows
	Samples                // of which something is in the rows
	Supervised             // tokens that the model is trained to predict
)

var unitNames = []string{"tokens", "samples", "supervised"}

// String returns "tokens", "samples" or "supervised".
func (u Unit) String() string {
	if int(u) < len(unitNames) {
		return unitNames[u]
	}
	return fmt.Sprintf("Unit(%d)", u)
}

// MarshalText returns what String does.
func (u Unit) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (u *Unit) UnmarshalText(text []byte) error {
	for i, name := range unitNames {
		if name == string(text) {
			*u = Unit(i)
			return nil
		}
	}
	return fmt.Errorf("unit %q: want one of %s", text, strings.Join(unitNames, ", "))
}

// Of returns how many units an amount of data is.
func (u Unit) Of(c tokenstream.Count) int64 {
	switch u {
	case Samples:
		return c.Samples
	case Supervised:
		return c.Supervised
	}
	return c.Tokens
}

// A Repeat says how often a source is read at most. Where it is no whole number, the last time takes so large a part of the samples, evenly
// spread, to a millionth.
type Repeat float64

// Endless is a source that begins again until the mixture ends because of another.
const Endless Repeat = math.MaxFloat64

const (
	millionth  = 1_000_000
	mostRepeat = 1_000_000_000
)

// ParseRepeat reads what String writes.
func ParseRepeat(s string) (Repeat, error) {
	if s == "endless" {
		return Endless, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err == nil && v != 0 && Repeat(v) != Endless {
		if _, _, err = Repeat(v).split(); err == nil {
			return Repeat(v), nil
		}
	}
	return 0, fmt.Errorf("repeat %q: want a number from %v to %v, or endless", s, 1./millionth, mostRepeat)
}

// String returns the number, or "endless".
func (r Repeat) String() string {
	if r == Endless {
		return "endless"
	}
	return strconv.FormatFloat(float64(r), 'f', -1, 64)
}

// MarshalJSON returns the number, or "endless".
func (r Repeat) MarshalJSON() ([]byte, error) {
	if r == Endless {
		return []byte(`"endless"`), nil
	}
	return json.Marshal(float64(r))
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (r *Repeat) UnmarshalJSON(b []byte) (err error) {
	*r, err = ParseRepeat(strings.Trim(string(b), `"`))
	return err
}

// split returns the times that r is for the whole source, and the millionths of the last.
func (r Repeat) split() (times, rest int64, err error) {
	switch {
	case r == 0:
		return 1, 0, nil
	case r == Endless:
		return math.MaxInt64, 0, nil
	case !(r >= 1./millionth && r <= mostRepeat):
		return 0, 0, fmt.Errorf("repeat %v: want %v..%v, or endless", float64(r), 1./millionth, mostRepeat)
	}
	n := int64(math.Round(float64(r) * millionth))
	return n / millionth, n % millionth, nil
}

// thin reports whether sample i, from 0, is among so many millionths of the samples.
func thin(i, millionths int64) bool {
	i %= millionth // whole millions have all the same
	return (i+1)*millionths/millionth > i*millionths/millionth
}

// A weightError says which weight is wrong.
type weightError struct {
	index int
	text  string
}

func (e *weightError) Error() string { return e.text }

// integers returns integers in the proportions of weights, and their sum. What people write is in these proportions exactly; where that
// takes more than 62 bits, they are rounded.
func integers(weights []float64) ([]uint64, uint64, error) {
	sum, scale := new(big.Rat), big.NewInt(1)
	list := make([]*big.Rat, len(weights))
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			return nil, 0, &weightError{i, fmt.Sprintf("weight %v: want a number from 0 on", w)}
		}
		list[i], _ = new(big.Rat).SetString(strconv.FormatFloat(w, 'g', -1, 64))
		sum.Add(sum, list[i])
		g := new(big.Int).GCD(nil, nil, scale, list[i].Denom())
		scale.Mul(scale, new(big.Int).Div(list[i].Denom(), g))
	}
	whole := make([]uint64, len(weights))
	if sum.Sign() == 0 {
		return whole, 0, nil
	}
	factor := new(big.Rat).SetInt(scale)
	if limit := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 62)); new(big.Rat).Mul(sum, factor).Cmp(limit) > 0 {
		factor.Quo(limit, sum)
	}
	total := uint64(0)
	for i, w := range list {
		v := new(big.Rat).Mul(w, factor)
		n := new(big.Int).Div(v.Num(), v.Denom())
		if whole[i] = n.Uint64(); whole[i] == 0 && w.Sign() > 0 {
			return nil, 0, &weightError{i, fmt.Sprintf("weight %v: too small beside the others", weights[i])}
		}
		total += whole[i]
	}
	return whole, total, nil
}

// permutation returns n ranks in an order by the seed.
func permutation(n int, seed uint64) []int {
	return rand.New(rand.NewPCG(seed, 0x6d6978)).Perm(n)
}
