package lpm

import "errors"

var (
	// ErrFamily: the family is neither IPv4 nor IPv6.
	ErrFamily = errors.New("lpm: no address family")
	// ErrGap: the map leaves an address without a value.
	ErrGap = errors.New("lpm: the map says nothing about an address")
	// ErrClass: a class is out of bounds, or there are more classes than the function takes.
	ErrClass = errors.New("lpm: a class is out of bounds")
	// ErrLengths: no table of the allowed prefix lengths says what the map says.
	ErrLengths = errors.New("lpm: the allowed prefix lengths are not enough")
)
