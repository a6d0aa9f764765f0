// Strategies prints, as a table in Markdown, how many rows each strategy needs for the samples of some files of JSON lines.
package main

import (
	"flag"
	"fmt"
	"log"

	"github.com/brimful/brimful/packing"
	"github.com/brimful/brimful/tokenstream/source"
)

func main() {
	log.SetFlags(0)
	capacity := flag.Int("capacity", 2048, "most tokens in a row")
	flag.Parse()
	files, err := source.Open(flag.Args(), source.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var lengths []int32
	tokens := 0
	for s, err := range files.Samples() {
		if err != nil {
			log.Fatal(err)
		}
		lengths = append(lengths, int32(len(s.Tokens)))
		tokens += len(s.Tokens)
	}
	limits := packing.Limits{Capacity: *capacity}
	bound := packing.LowerBound(lengths, limits)
	fmt.Println("| strategy | rows | above the bound | fill |")
	fmt.Println("|---|---|---|---|")
	for _, name := range packing.Names() {
		s, err := packing.Lookup(name)
		if err != nil {
			log.Fatal(err)
		}
		plan, err := packing.Pack(s, lengths, limits)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("| %s | %d | %d | %.1f %% |\n", name, plan.Len(), plan.Len()-bound, 100*float64(tokens)/float64(plan.Len()**capacity))
	}
}
