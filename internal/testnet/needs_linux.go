package testnet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tryNeed finds out whether a need is met by trying it in a fresh namespace.
func tryNeed(n Need) error {
	h, err := newHost("needs")
	if err != nil {
		err = fmt.Errorf("creating a network namespace: %w; run the tests as root, "+
			"or call testnet.Main in TestMain and allow unprivileged user namespaces "+
			"(sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "+
			"kernel.apparmor_restrict_unprivileged_userns)", err)
		if noUserNamespace != nil {
			err = fmt.Errorf("%w; a user namespace was refused: %w", err, noUserNamespace)
		}
		return err
	}
	defer h.close()

	switch n {
	case Namespaces:
		return nil // newHost has set it up, too.
	case NFT:
		return h.try("the Debian package nftables", "CONFIG_NF_TABLES, CONFIG_NF_TABLES_INET",
			try{"table inet cidrc_need {\nchain c {\ntype filter hook input priority 0\n}\n}\n", "nft -f -"})
	case IPTablesLegacy:
		return h.try("the Debian package iptables", "CONFIG_IP_NF_IPTABLES_LEGACY, CONFIG_IP6_NF_IPTABLES_LEGACY",
			iptablesTries("legacy")...)
	case IPTablesNFT:
		return h.try("the Debian package iptables", "CONFIG_NF_TABLES, CONFIG_NFT_COMPAT",
			iptablesTries("nft")...)
	case IPSet:
		return h.try("the Debian package ipset", "CONFIG_IP_SET, CONFIG_IP_SET_HASH_NET",
			try{"create cidrc_need hash:net\n", "ipset restore"})
	case Conntrack:
		// Any of the tools will do to ask for it.
		err := h.try("the Debian package nftables", "CONFIG_NF_CONNTRACK, CONFIG_NFT_CT",
			try{"table inet cidrc_need {\nchain c {\ntype filter hook input priority 0\nct state new\n}\n}\n", "nft -f -"})
		if err != nil && h.try("", "",
			try{"", "iptables-legacy -A INPUT -m conntrack --ctstate NEW"}) == nil {
			return nil
		}
		return err
	case FullBuffers:
		return tryFullBuffers()
	}
	return fmt.Errorf("no such need")
}

// A try is a command, split at blanks, and its standard input.
type try struct{ stdin, command string }

func iptablesTries(variant string) []try {
	var tries []try
	for _, tool := range []string{"iptables-", "ip6tables-"} {
		tool += variant
		tries = append(tries,
			try{"*filter\n-A INPUT -m comment --comment cidrc_need -j DROP\nCOMMIT\n", tool + "-restore"},
			try{"", tool + "-save"},
			try{"", tool + " -F INPUT"})
	}
	return tries
}

// try runs the commands in order. Its error says whether it is the program that
// is missing, and from which package it comes, or something in the kernel.
func (h *Host) try(pkg, kernel string, tries ...try) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, c := range tries {
		words := strings.Fields(c.command)
		if _, err := exec.LookPath(words[0]); err != nil {
			return fmt.Errorf("the command %s is not in PATH; install it (%s)", words[0], pkg)
		}
		if _, err := h.Output(ctx, c.stdin, words[0], words[1:]...); err != nil {
			return fmt.Errorf("%w; the kernel needs %s, built in or loaded as modules", err, kernel)
		}
	}
	return nil
}

func tryFullBuffers() error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_NETFILTER)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUFFORCE, 64<<20)
	if errors.Is(err, unix.EPERM) {
		return errors.New("this process may not raise a socket buffer over net.core.wmem_max; " +
			"run the tests as root of the machine, outside a user namespace")
	}
	return os.NewSyscallError("setsockopt SO_SNDBUFFORCE", err)
}
