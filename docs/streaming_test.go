package docs_test

import (
	"fmt"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/tokenstream"
)

// received yields the samples of a channel until it is closed.
func received(samples <-chan tokenstream.Sample) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		for s := range samples {
			if !yield(s, nil) {
				return
			}
		}
	}
}

func counted(src tokenstream.Source, n *int) tokenstream.Source {
	return func(yield func(tokenstream.Sample, error) bool) {
		for s, err := range src {
			*n++
			if !yield(s, err) {
				return
			}
		}
	}
}

func Example_streaming() {
	samples := make(chan tokenstream.Sample)
	go func() {
		defer close(samples)
		for _, n := range []int{5, 9, 3, 7, 2, 8, 4, 6, 5, 3} {
			samples <- tokenstream.Sample{Tokens: make([]int32, n)}
		}
	}()
	n := 0
	rows := tokenstream.Pack(counted(received(samples), &n), tokenstream.Options{Capacity: 10, Strategy: packing.OldestFirst{Pool: 4}})
	for row, err := range rows {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Print("after ", n, " samples a row of")
		for _, segment := range row.Segments {
			fmt.Print(" #", segment.Sample)
		}
		fmt.Println(", padding", row.Pad)
	}
	// Output:
	// after 5 samples a row of #0 #2, padding 2
	// after 7 samples a row of #1, padding 1
	// after 8 samples a row of #3 #4, padding 1
	// after 10 samples a row of #5, padding 2
	// after 10 samples a row of #6 #7, padding 0
	// after 10 samples a row of #8 #9, padding 2
}
