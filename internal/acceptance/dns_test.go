//go:build linux

package acceptance

import (
	"context"
	"encoding/binary"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/cidrc/cidrc/internal/testnet"
)

// serveDNS answers each query that comes to the address of the host with one TXT record, until the test ends.
func serveDNS(t *testing.T, h *testnet.Host, server netip.AddrPort, text string) {
	conn := h.ListenPacket(t, "udp", server.String())
	go func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if reply := dnsReply(buf[:n], text); reply != nil {
				conn.WriteTo(reply, from)
			}
		}
	}()
}

// dnsReply answers a query of one question (RFC 1035, section 4), and returns nil for what is none.
func dnsReply(query []byte, text string) []byte {
	const header = 12
	if len(query) < header || query[2]&0x80 != 0 || binary.BigEndian.Uint16(query[4:]) != 1 {
		return nil
	}
	end := header
	for end < len(query) && query[end] != 0 {
		end += 1 + int(query[end])
	}
	if end += 5; end > len(query) { // the root, type and class
		return nil
	}
	reply := append([]byte{}, query[:end]...)
	copy(reply[2:header], []byte{
		0x84 | query[2]&1, 0x80, // a reply, with authority, recursion as asked and available; no error
		0, 1, 0, 1, 0, 0, 0, 0, // a question, an answer, and nothing else
	})
	reply = append(reply, 0xc0, header, 0, 16, 0, 1, 0, 0, 0, 60) // the same name, TXT, IN, for a minute
	reply = binary.BigEndian.AppendUint16(reply, uint16(1+len(text)))
	return append(append(reply, byte(len(text))), text...)
}

// askDNS asks the server for a TXT record, over the connections that dial makes, for a second at most.
func askDNS(t *testing.T, dial func(ctx context.Context) (net.Conn, error)) (string, error) {
	r := net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	answers, err := r.LookupTXT(ctx, "example.org.")
	if err != nil || len(answers) == 0 {
		return "", err
	}
	return answers[0], nil
}
