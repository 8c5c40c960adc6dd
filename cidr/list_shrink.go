package cidr

import (
	"fmt"
	"math/big"
)

type shrinkLimit struct {
	last  Set
	share float64
}

// MaxShrink refuses a list of which too much is gone since the last time (ErrShrunk): in either family, more than that
// share of the addresses of last, or of the prefixes of its minimal cover. A prefix is gone when none of its addresses is
// left. The share is over 0 and at most 1. A family that last does not have cannot shrink.
//
// The list is held apart from the builder's other entries for this, which doubles the memory while it is built.
func MaxShrink(last Set, share float64) ListOption {
	return func(l *listReader) {
		if !(share > 0 && share <= 1) {
			l.refuseOption("MaxShrink: the share is over 0 and at most 1, not %v", share)
			return
		}
		l.shrink = &shrinkLimit{last, share}
	}
}

func (l *listReader) checkShrink() error {
	if l.shrink == nil {
		return nil
	}
	now, err := l.own.Build()
	if err != nil {
		return err
	}
	for _, f := range Families() {
		last := l.shrink.last.Only(f)
		addrs, prefixes := last.NumAddrs(), big.NewInt(int64(last.NumPrefixes()))
		goneAddrs, gonePrefixes := last.Difference(now).NumAddrs(), new(big.Int)
		for p := range last.Prefixes() {
			if !now.OverlapsPrefix(p) {
				gonePrefixes.Add(gonePrefixes, big.NewInt(1))
			}
		}
		if l.shrink.over(goneAddrs, addrs) || l.shrink.over(gonePrefixes, prefixes) {
			return fmt.Errorf("%w: %v: of %v addresses %v are gone, and of %v prefixes %v; the limit is %.4g %%",
				ErrShrunk, f, addrs, goneAddrs, prefixes, gonePrefixes, 100*l.shrink.share)
		}
	}
	return nil
}

// over reports whether part is more than the share of whole, exactly.
func (s *shrinkLimit) over(part, whole *big.Int) bool {
	limit := new(big.Rat).SetFloat64(s.share)
	limit.Mul(limit, new(big.Rat).SetInt(whole))
	return new(big.Rat).SetInt(part).Cmp(limit) > 0
}
