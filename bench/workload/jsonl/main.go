// Jsonl writes 100,000 samples of chat lengths up to 8192, some 64 million tokens, as JSON lines to standard output.
package main

import (
	"log"
	"os"

	"github.com/brimful/brimful/bench/workload"
)

func main() {
	lengths, err := workload.Lengths("chat", 100_000, 8192, 1)
	if err == nil {
		err = workload.WriteJSONL(os.Stdout, lengths, 1, 1)
	}
	if err != nil {
		log.Fatal(err)
	}
}
