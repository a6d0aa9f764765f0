package mix_test

import (
	"fmt"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/mix"
)

func Example() {
	web, code := of(0, 4, 4, 4, 4, 4, 4, 4), of(1, 3, 3)
	var mixed mix.Stats
	var stats tokenstream.Stats
	o := tokenstream.Options{Capacity: 12, Sources: 2, Stats: &stats}
	samples := mix.Mix([]mix.Source{
		{Name: "web", Samples: web, Weight: 2},
		{Name: "code", Samples: code, Weight: 1, Repeat: 2},
	}, mix.Options{Count: tokenstream.Counter(o), Stats: &mixed})
	for row, err := range tokenstream.Pack(samples, o) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tokenstream.Sources.AppendInt32(nil, row))
	}
	for i, u := range mixed.Sources {
		fmt.Printf("%s: %d samples, drawn %d times, %d not used, %d tokens in the rows\n",
			u.Name, u.Samples, u.Drawn, u.Unused(), stats.Ledger.Sources[i].Out.Tokens)
	}
	// Output:
	// [0 0 0]
	// [0 0 0]
	// [1 1 0]
	// [1 1]
	// web: 7 samples, drawn 7 times, 0 not used, 28 tokens in the rows
	// code: 2 samples, drawn 4 times, 0 not used, 12 tokens in the rows
}
