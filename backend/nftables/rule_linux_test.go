package nftables

import (
	"net/netip"
	"testing"

	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/stretchr/testify/require"

	"github.com/cidrc/cidrc/cidr"
	"github.com/cidrc/cidrc/compile"
)

// Expressions are, byte for byte, those that github.com/google/nftables makes. That package is for Linux only, and takes
// some microseconds for each, which is why it is the twin here and not the encoder.
func TestExpressionsAgainstTwin(t *testing.T) {
	meta := func(key expr.MetaKey) expr.Any { return &expr.Meta{Key: key, Register: 1} }
	equal := func(data ...byte) expr.Any { return &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: data} }
	load := func(base expr.PayloadBase, offset, size uint32) expr.Any {
		return &expr.Payload{DestRegister: 1, Base: base, Offset: offset, Len: size}
	}
	masked := func(mask ...byte) expr.Any {
		return &expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: uint32(len(mask)), Mask: mask, Xor: make([]byte, len(mask))}
	}
	verdict := func(kind expr.VerdictKind, chain string) expr.Any { return &expr.Verdict{Kind: kind, Chain: chain} }
	network, transport := expr.PayloadBaseNetworkHeader, expr.PayloadBaseTransportHeader
	v4, v6 := []expr.Any{meta(expr.MetaKeyNFPROTO), equal(2)}, []expr.Any{meta(expr.MetaKeyNFPROTO), equal(10)}
	with := func(start []expr.Any, more ...expr.Any) []expr.Any {
		return append(start[:len(start):len(start)], more...)
	}
	other := &compile.Chain{Name: "other"}
	set4 := &compile.Set{Name: "drop4", Family: cidr.V4}
	set6 := &compile.Set{Name: "drop6", Family: cidr.V6}
	lo := binaryutil.NativeEndian.PutUint32(1)
	for name, test := range map[string]struct {
		rule compile.ChainRule
		side compile.Side
		want []expr.Any
	}{
		"accept": {rule: compile.ChainRule{Do: compile.DoPass}, want: []expr.Any{verdict(expr.VerdictAccept, "")}},
		"drop":   {rule: compile.ChainRule{Do: compile.DoDrop, Family: 6}, want: with(v6, verdict(expr.VerdictDrop, ""))},
		"jump":   {rule: compile.ChainRule{Do: compile.DoJump, Chain: other}, want: []expr.Any{verdict(expr.VerdictJump, "other")}},
		"goto":   {rule: compile.ChainRule{Do: compile.DoGoto, Chain: other, Family: 4}, want: with(v4, verdict(expr.VerdictGoto, "other"))},
		"reject": {rule: compile.ChainRule{Do: compile.DoReject}, want: []expr.Any{&expr.Reject{Type: 2, Code: 1}}},
		"reject of IPv4": {rule: compile.ChainRule{Do: compile.DoReject, Family: 4},
			want: with(v4, &expr.Reject{Type: 0, Code: 3})},
		"reject of IPv6": {rule: compile.ChainRule{Do: compile.DoReject, Set: set6},
			want: with(v6, load(network, 8, 16), &expr.Lookup{SourceRegister: 1, SetName: "drop6"}, &expr.Reject{Type: 0, Code: 4})},
		"a set": {rule: compile.ChainRule{Do: compile.DoDrop, Set: set4, Counter: true},
			want: with(v4, load(network, 12, 4), &expr.Lookup{SourceRegister: 1, SetName: "drop4"}, &expr.Counter{}, verdict(expr.VerdictDrop, ""))},
		"not in a set, of destinations": {rule: compile.ChainRule{Do: compile.DoDrop, Set: set6, Not: true}, side: compile.Destination,
			want: with(v6, load(network, 24, 16), &expr.Lookup{SourceRegister: 1, SetName: "drop6", Invert: true}, verdict(expr.VerdictDrop, ""))},
		"a prefix of whole bytes": {rule: compile.ChainRule{Do: compile.DoPass, Prefix: netip.MustParsePrefix("192.0.2.0/24")},
			want: with(v4, load(network, 12, 3), equal(192, 0, 2), verdict(expr.VerdictAccept, ""))},
		"a prefix of other bits": {rule: compile.ChainRule{Do: compile.DoPass, Prefix: netip.MustParsePrefix("192.0.2.128/26")}, side: compile.Destination,
			want: with(v4, load(network, 16, 4), masked(255, 255, 255, 192), equal(192, 0, 2, 128), verdict(expr.VerdictAccept, ""))},
		"a prefix of no bits": {rule: compile.ChainRule{Do: compile.DoPass, Prefix: netip.MustParsePrefix("::/0")},
			want: with(v6, verdict(expr.VerdictAccept, ""))},
		"an address": {rule: compile.ChainRule{Do: compile.DoPass, Prefix: netip.MustParsePrefix("2001:db8::1/128")},
			want: with(v6, load(network, 8, 16), equal(0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1), verdict(expr.VerdictAccept, ""))},
		"loopback": {rule: compile.ChainRule{Do: compile.DoPass, Match: &compile.Match{In: "lo"}},
			want: []expr.Any{meta(expr.MetaKeyIIF), equal(lo...), verdict(expr.VerdictAccept, "")}},
		"a device": {rule: compile.ChainRule{Do: compile.DoPass, Match: &compile.Match{Out: "eth0"}},
			want: []expr.Any{meta(expr.MetaKeyOIFNAME), equal(append([]byte("eth0"), make([]byte, 12)...)...), verdict(expr.VerdictAccept, "")}},
		"states": {rule: compile.ChainRule{Do: compile.DoPass, Match: &compile.Match{States: compile.StateSet(compile.Established, compile.Related, compile.Untracked)}},
			want: []expr.Any{&expr.Ct{Key: expr.CtKeySTATE, Register: 1}, masked(binaryutil.NativeEndian.PutUint32(2 | 4 | 64)...),
				&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: make([]byte, 4)}, verdict(expr.VerdictAccept, "")}},
		"both ports": {rule: compile.ChainRule{Do: compile.DoPass, Match: &compile.Match{Family: 4, Protocol: compile.UDP, SourcePort: 67, DestinationPort: 68}},
			want: with(v4, meta(expr.MetaKeyL4PROTO), equal(17), load(transport, 0, 4), equal(0, 67, 0, 68), verdict(expr.VerdictAccept, ""))},
		"a port": {rule: compile.ChainRule{Do: compile.DoPass, Match: &compile.Match{Protocol: compile.TCP, DestinationPort: 443}},
			want: []expr.Any{meta(expr.MetaKeyL4PROTO), equal(6), load(transport, 2, 2), equal(1, 187), verdict(expr.VerdictAccept, "")}},
		"a type": {rule: compile.ChainRule{Do: compile.DoPass, Match: &compile.Match{Protocol: compile.ICMPv6, ICMPTypes: []uint8{128}}},
			want: with(v6, meta(expr.MetaKeyL4PROTO), equal(58), load(transport, 0, 1), equal(128), verdict(expr.VerdictAccept, ""))},
		"types": {rule: compile.ChainRule{Do: compile.DoPass, Match: &compile.Match{Protocol: compile.ICMP, ICMPTypes: []uint8{3, 11}}},
			want: with(v4, meta(expr.MetaKeyL4PROTO), equal(1), load(transport, 0, 1), &expr.Lookup{SourceRegister: 1, SetName: "__set%d", SetID: 1}, verdict(expr.VerdictAccept, ""))},
	} {
		t.Run(name, func(t *testing.T) {
			tx := newTransaction("cidrc_geo", 0, 0)
			c := &compile.Chain{Name: "input", Side: test.side, Rules: []compile.ChainRule{test.rule}}
			require.NoError(t, tx.addRule(c, 0, place{}))
			last := tx.about[len(tx.about)-1]
			m, _, ok := nextMessage(tx.buf[last.start:])
			require.True(t, ok)
			got := find(m.attrs(), ruleExprs)
			var want []byte
			for _, e := range test.want {
				b, err := expr.Marshal(familyInet, e)
				require.NoError(t, err)
				w := messages{buf: want}
				w.bytes(listItem|attrNested, b)
				want = w.buf
			}
			require.Equal(t, want, got)
		})
	}
}
