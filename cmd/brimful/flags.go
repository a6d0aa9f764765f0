package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// choice is a flag whose value is one of a few names.
type choice[T any] struct {
	value *T
	name  string
	of    []option[T]
}

type option[T any] struct {
	name  string
	value T
}

// newChoice returns a flag that sets value, with the first option as its default.
func newChoice[T any](value *T, of ...option[T]) *choice[T] {
	*value = of[0].value
	return &choice[T]{value: value, name: of[0].name, of: of}
}

func (c *choice[T]) String() string { return c.name }

func (c *choice[T]) Type() string {
	var names []string
	for _, o := range c.of {
		names = append(names, o.name)
	}
	return strings.Join(names, "|")
}

func (c *choice[T]) Set(s string) error {
	for _, o := range c.of {
		if o.name == s {
			*c.value, c.name = o.value, s
			return nil
		}
	}
	return fmt.Errorf("want one of %s", strings.ReplaceAll(c.Type(), "|", ", "))
}

// amount is a flag of a number that may end with K, M, G (powers of 1000) or Ki, Mi, Gi (powers of 1024).
type amount int64

var suffixes = []struct {
	suffix string
	factor int64
}{{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}}

func (a *amount) String() string { return strconv.FormatInt(int64(*a), 10) }

func (a *amount) Type() string { return "N" }

func (a *amount) Set(s string) error {
	factor := int64(1)
	digits := s
	for _, u := range suffixes {
		if t, ok := strings.CutSuffix(s, u.suffix); ok {
			digits, factor = t, u.factor
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64/factor {
		return fmt.Errorf("want a number such as 4096, 10M or 32Mi")
	}
	*a = amount(n * factor)
	return nil
}

// share is a flag of a share such as 1% or 0.01.
type share float64

func (f *share) String() string { return strconv.FormatFloat(float64(*f), 'g', -1, 64) }

func (f *share) Type() string { return "SHARE" }

func (f *share) Set(s string) error {
	digits, percent := strings.CutSuffix(s, "%")
	v, err := strconv.ParseFloat(digits, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v < 1) {
		return fmt.Errorf("want a share from 0 up to, not including, 1, such as 1%% or 0.01")
	}
	*f = share(v)
	return nil
}

// multiple is a flag of a number of which something has to be a multiple; of several with commas between, it is the least common multiple.
type multiple int

func (m *multiple) String() string { return strconv.Itoa(int(*m)) }

func (m *multiple) Type() string { return "N[,N]" }

func (m *multiple) Set(s string) error {
	all := int64(1)
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil || n < 1 {
			return fmt.Errorf("want numbers from 1, such as 8 or 8,16")
		}
		a, b := all, n
		for b != 0 {
			a, b = b, a%b
		}
		if all = all / a * n; all > math.MaxInt32 {
			return fmt.Errorf("the least common multiple is above %d", math.MaxInt32)
		}
	}
	*m = multiple(all)
	return nil
}
