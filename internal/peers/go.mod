module github.com/cidrc/cidrc/internal/peers

go 1.25.0

require (
	github.com/cidrc/cidrc v0.0.0
	go4.org/netipx v0.0.0-20260823151212-3075585bcbeb
)

require github.com/gaissmai/bart v0.30.0

replace github.com/cidrc/cidrc => ../..
