package testnet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// An observer records in the kernel which probes enter a hook and which leave
// it. As nft text it is, for the late side (the early one accepts instead of
// dropping):
//
//	set passed4 { type ipv4_addr; size N; flags dynamic; }
//	set passed6 { type ipv6_addr; size N; flags dynamic; }
//	chain passed {
//		type filter hook input priority 2000; policy accept;
//		ether saddr PROBE meta protocol ip  add @passed4 { ip saddr }  counter drop
//		ether saddr PROBE meta protocol ip6 add @passed6 { ip6 saddr } counter drop
//		ether saddr PROBE counter drop
//	}
//
// The sets have room for all probes from the start, so they are never rehashed
// while they are read. Should the kernel yet fail to add an element, the packet
// falls through to the last rule; and since each source arrives at most once,
// the counters of the first two are exactly the sizes of their sets. A reading
// for which this does not hold is repeated, then refused. It goes through
// netlink and not the nft command, which would first fetch the ruleset under
// test, however large.
type observer struct {
	conn  *nftables.Conn
	table *nftables.Table
	chain [2]*nftables.Chain
	sets  [2][2]*nftables.Set // side, then IPv4 and IPv6
}

func newObserver(h *Host, hook Hook, sources int) (*observer, error) {
	o := &observer{table: &nftables.Table{Name: observerTable, Family: nftables.TableFamilyINet}}
	var device string
	var number *nftables.ChainHook
	switch hook {
	case Input:
		number = nftables.ChainHookInput
	case Forward:
		number = nftables.ChainHookForward
	case Prerouting:
		number = nftables.ChainHookPrerouting
	case Ingress:
		number, device = nftables.ChainHookIngress, h.Device
		o.table.Family = nftables.TableFamilyNetdev
	default:
		return nil, fmt.Errorf("no such hook: %v", hook)
	}
	err := h.Do(func() (err error) {
		o.conn, err = nftables.New(nftables.AsLasting())
		return err
	})
	if err != nil {
		return nil, err
	}

	o.conn.AddTable(o.table)
	for _, s := range []side{early, late} {
		o.chain[s] = o.conn.AddChain(&nftables.Chain{
			Name:     s.String(),
			Table:    o.table,
			Type:     nftables.ChainTypeFilter,
			Hooknum:  number,
			Priority: nftables.ChainPriorityRef(nftables.ChainPriority(s.priority())),
			Device:   device,
		})
		verdict := &expr.Verdict{Kind: expr.VerdictAccept}
		if s == late {
			verdict.Kind = expr.VerdictDrop
		}
		for i, f := range []struct {
			name           string
			key            nftables.SetDatatype
			protocol       uint16
			offset, length uint32
		}{
			{s.String() + "4", nftables.TypeIPAddr, etherIPv4, 12, 4},
			{s.String() + "6", nftables.TypeIP6Addr, etherIPv6, 8, 16},
		} {
			set := &nftables.Set{
				Table: o.table, Name: f.name, KeyType: f.key,
				Dynamic: true, Size: uint32(sources) + 1,
			}
			if err := o.addSet(set); err != nil {
				return nil, errors.Join(err, o.conn.CloseLasting())
			}
			o.sets[s][i] = set
			o.rule(s,
				&expr.Meta{Key: expr.MetaKeyPROTOCOL, Register: 1},
				&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binary.BigEndian.AppendUint16(nil, f.protocol)},
				&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: f.offset, Len: f.length},
				&expr.Dynset{SrcRegKey: 1, SetName: set.Name, SetID: set.ID, Operation: unix.NFT_DYNSET_OP_ADD},
				&expr.Counter{}, verdict)
		}
		o.rule(s, &expr.Counter{}, verdict)
	}
	if err := o.conn.Flush(); err != nil {
		return nil, errors.Join(err, o.conn.CloseLasting())
	}
	return o, nil
}

// setIDs guards the counter from which google/nftables numbers sets, which all connections of a process share: tests
// that run at the same time could otherwise get two sets of one number in a batch.
var setIDs sync.Mutex

func (o *observer) addSet(s *nftables.Set) error {
	setIDs.Lock()
	defer setIDs.Unlock()
	return o.conn.AddSet(s, nil)
}

// rule adds a rule for probes only.
func (o *observer) rule(s side, exprs ...expr.Any) {
	o.conn.AddRule(&nftables.Rule{Table: o.table, Chain: o.chain[s], Exprs: append([]expr.Any{
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseLLHeader, Offset: 6, Len: 6},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: probeMAC},
	}, exprs...)})
}

// read returns the sources that one side has seen.
func (o *observer) read(s side) (map[netip.Addr]bool, error) {
	var problem error
	for try := range 10 {
		time.Sleep(time.Duration(try) * 5 * time.Millisecond)
		counts, err := o.counts(s)
		if err != nil {
			return nil, err
		}
		if counts[2] != 0 {
			return nil, fmt.Errorf("the observer could not record %d probes; is the kernel short of memory?", counts[2])
		}
		seen := make(map[netip.Addr]bool, counts[0]+counts[1])
		for _, set := range o.sets[s] {
			elements, err := o.conn.GetSetElements(set)
			if err != nil {
				return nil, fmt.Errorf("reading the set %s: %w", set.Name, err)
			}
			for _, e := range elements {
				addr, ok := netip.AddrFromSlice(e.Key)
				if !ok {
					return nil, fmt.Errorf("the set %s holds %x, which is no address", set.Name, e.Key)
				}
				seen[addr] = true
			}
		}
		if uint64(len(seen)) == counts[0]+counts[1] {
			return seen, nil
		}
		problem = fmt.Errorf("the sets %v hold %d sources where %d packets were counted", s, len(seen), counts[0]+counts[1])
	}
	return nil, problem
}

// counts returns the counters of the side's three rules.
func (o *observer) counts(s side) (counts [3]uint64, err error) {
	rules, err := o.conn.GetRules(o.table, o.chain[s])
	if err != nil {
		return counts, fmt.Errorf("reading the chain %v: %w", s, err)
	}
	if len(rules) != len(counts) {
		return counts, fmt.Errorf("the chain %v has %d rules left; did something flush the ruleset?", s, len(rules))
	}
	for i, r := range rules {
		for _, e := range r.Exprs {
			if c, ok := e.(*expr.Counter); ok {
				counts[i] = c.Packets
			}
		}
	}
	return counts, nil
}

// close removes the table.
func (o *observer) close() error {
	o.conn.DelTable(o.table)
	return errors.Join(o.conn.Flush(), o.conn.CloseLasting())
}
