package workload

import (
	"runtime"
	"sync"
	"time"
)

// SecondCore returns how much more two goroutines of a spin loop get done than one: 2 where a second core is free, less where other work
// runs on it. It takes a second or so.
func SecondCore() float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	work := func() {
		x := uint64(1)
		for range 400_000_000 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		if x == 0 {
			panic("xorshift reached 0")
		}
	}
	start := time.Now()
	work()
	one := time.Since(start)
	start = time.Now()
	var both sync.WaitGroup
	both.Go(work)
	both.Go(work)
	both.Wait()
	return 2 * one.Seconds() / time.Since(start).Seconds()
}
