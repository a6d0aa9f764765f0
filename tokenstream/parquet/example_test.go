package parquet_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/parquet"
)

func ExampleNewWriter() {
	var file bytes.Buffer
	w, err := parquet.NewWriter(&file, tokenstream.HF, parquet.Options{})
	if err != nil {
		log.Fatal(err)
	}
	row := &tokenstream.Batch{
		Tokens:   []int32{5, 6, 7, 8, 9, 0},
		Labels:   []int32{-100, 6, 7, -100, 9, -100},
		Segments: []tokenstream.Segment{{Sample: 0, Length: 3}, {Sample: 1, Length: 2}},
		Pad:      1,
	}
	if err := w.Write(row); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %s\n", file.Bytes()[:4], file.Bytes()[file.Len()-4:])
	// Output: PAR1 PAR1
}

func ExampleRead() {
	// A file of samples, here of a layout without columns that only packed rows have.
	layout := tokenstream.Layout{Columns: []tokenstream.Column{{Name: "input_ids", Kind: tokenstream.Tokens}, {Name: "labels", Kind: tokenstream.Labels}}}
	var file bytes.Buffer
	w, err := parquet.NewWriter(&file, layout, parquet.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, tokens := range [][]int32{{5, 6, 7}, {8, 9}} {
		row := &tokenstream.Batch{Tokens: tokens, Labels: tokens, Segments: []tokenstream.Segment{{Length: int32(len(tokens))}}}
		if err := w.Write(row); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	for sample, err := range parquet.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), parquet.ReadOptions{Name: "a.parquet"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(sample.Place, sample.Tokens, sample.Labels)
	}
	// Output:
	// a.parquet:1 [5 6 7] [5 6 7]
	// a.parquet:2 [8 9] [8 9]
}
