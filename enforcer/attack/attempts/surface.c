/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rare sockets, files and devices of the kernel. Each is opened and left alone; a family of sockets
 * may load the kernel's module for it.
 */
#include <fcntl.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "enforcer/attack/attempts/attempts.h"

#define SOCKET(id, family, type, protocol)                                                         \
	static int id(const struct ward_facts *f, char *proof)                                     \
	{                                                                                          \
		return socket(family, (type) | SOCK_CLOEXEC, protocol);                            \
	}
#define OPEN(id, path, flags)                                                                      \
	static int id(const struct ward_facts *f, char *proof)                                     \
	{                                                                                          \
		return ward_attempt_open(path, flags);                                             \
	}

SOCKET(netlink_audit, AF_NETLINK, SOCK_RAW, NETLINK_AUDIT)
SOCKET(netlink_netfilter, AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER)
SOCKET(netlink_xfrm, AF_NETLINK, SOCK_RAW, NETLINK_XFRM)
SOCKET(netlink_connector, AF_NETLINK, SOCK_RAW, NETLINK_CONNECTOR)
SOCKET(netlink_devices, AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT)
SOCKET(netlink_generic, AF_NETLINK, SOCK_RAW, NETLINK_GENERIC)
SOCKET(netlink_rdma, AF_NETLINK, SOCK_RAW, NETLINK_RDMA)
SOCKET(netlink_crypto, AF_NETLINK, SOCK_RAW, NETLINK_CRYPTO)
SOCKET(netlink_diagnosis, AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG)
SOCKET(netlink_iscsi, AF_NETLINK, SOCK_RAW, NETLINK_ISCSI)
SOCKET(netlink_security, AF_NETLINK, SOCK_RAW, NETLINK_SELINUX)
SOCKET(can_socket, 29, SOCK_RAW, 1)
SOCKET(tipc_socket, 30, SOCK_SEQPACKET, 0)
SOCKET(bluetooth_socket, 31, SOCK_RAW, 1)
SOCKET(rds_socket, 21, SOCK_SEQPACKET, 0)
SOCKET(smc_socket, 43, SOCK_STREAM, 0)
SOCKET(kcm_socket, 41, SOCK_DGRAM, 0)
SOCKET(x25_socket, 9, SOCK_SEQPACKET, 0)
SOCKET(ax25_socket, 3, SOCK_DGRAM, 0)
SOCKET(appletalk_socket, 5, SOCK_DGRAM, 0)
SOCKET(rxrpc_socket, 33, SOCK_DGRAM, 2)
SOCKET(nfc_socket, 39, SOCK_SEQPACKET, 0)
SOCKET(pppox_socket, 24, SOCK_STREAM, 0)
SOCKET(xdp_socket, 44, SOCK_RAW, 0)
SOCKET(ipsec_keys_socket, 15, SOCK_RAW, 2)
SOCKET(llc_socket, 26, SOCK_DGRAM, 0)
SOCKET(phonet_socket, 35, SOCK_DGRAM, 0)
SOCKET(caif_socket, 37, SOCK_SEQPACKET, 0)
SOCKET(qipcrtr_socket, 42, SOCK_DGRAM, 0)
SOCKET(sctp_socket, AF_INET, SOCK_STREAM, 132)
SOCKET(dccp_socket, AF_INET, 6, 33)
SOCKET(mptcp_socket, AF_INET, SOCK_STREAM, 262)
SOCKET(udp_lite_socket, AF_INET, SOCK_DGRAM, 136)
SOCKET(l2tp_socket, AF_INET, SOCK_DGRAM, 115)
SOCKET(raw6_socket, AF_INET6, SOCK_RAW, 58)

OPEN(set_randomize, "/proc/sys/kernel/randomize_va_space", O_WRONLY)
OPEN(set_pointers, "/proc/sys/kernel/kptr_restrict", O_WRONLY)
OPEN(set_log_rights, "/proc/sys/kernel/dmesg_restrict", O_WRONLY)
OPEN(set_panic, "/proc/sys/kernel/panic", O_WRONLY)
OPEN(set_sysrq, "/proc/sys/kernel/sysrq", O_WRONLY)
OPEN(set_trace_scope, "/proc/sys/kernel/yama/ptrace_scope", O_WRONLY)
OPEN(set_bpf, "/proc/sys/kernel/unprivileged_bpf_disabled", O_WRONLY)
OPEN(set_perf, "/proc/sys/kernel/perf_event_paranoid", O_WRONLY)
OPEN(set_pid_max, "/proc/sys/kernel/pid_max", O_WRONLY)
OPEN(set_threads_max, "/proc/sys/kernel/threads-max", O_WRONLY)
OPEN(set_overcommit, "/proc/sys/vm/overcommit_memory", O_WRONLY)
OPEN(set_caches, "/proc/sys/vm/drop_caches", O_WRONLY)
OPEN(set_first_page, "/proc/sys/vm/mmap_min_addr", O_WRONLY)
OPEN(set_out_of_memory, "/proc/sys/vm/panic_on_oom", O_WRONLY)
OPEN(set_swappiness, "/proc/sys/vm/swappiness", O_WRONLY)
OPEN(set_dumpable, "/proc/sys/fs/suid_dumpable", O_WRONLY)
OPEN(set_links, "/proc/sys/fs/protected_symlinks", O_WRONLY)
OPEN(set_hard_links, "/proc/sys/fs/protected_hardlinks", O_WRONLY)
OPEN(set_file_max, "/proc/sys/fs/file-max", O_WRONLY)
OPEN(register_interpreter, "/proc/sys/fs/binfmt_misc/register", O_WRONLY)
OPEN(set_forwarding, "/proc/sys/net/ipv4/ip_forward", O_WRONLY)
OPEN(set_user_namespaces, "/proc/sys/user/max_user_namespaces", O_WRONLY)
OPEN(timers, "/proc/timer_list", O_RDONLY)
OPEN(slabs, "/proc/slabinfo", O_RDONLY)
OPEN(kernel_mappings, "/proc/vmallocinfo", O_RDONLY)
OPEN(page_counts, "/proc/kpagecount", O_RDONLY)
OPEN(page_flags, "/proc/kpageflags", O_RDONLY)
OPEN(set_interrupts, "/proc/irq/default_smp_affinity", O_WRONLY)
OPEN(memory_types, "/proc/mtrr", O_WRONLY)
OPEN(power_state, "/sys/power/state", O_WRONLY)
OPEN(same_pages, "/sys/kernel/mm/ksm/run", O_WRONLY)
OPEN(huge_pages, "/sys/kernel/mm/transparent_hugepage/enabled", O_WRONLY)
OPEN(crash_memory, "/sys/kernel/kexec_crash_size", O_WRONLY)
OPEN(cgroup_root, "/sys/fs/cgroup/cgroup.procs", O_WRONLY)
OPEN(profiling, "/sys/kernel/profiling", O_WRONLY)
OPEN(device_port, "/dev/port", O_RDONLY)
OPEN(device_nvram, "/dev/nvram", O_RDONLY)
OPEN(device_loop, "/dev/loop-control", O_WRONLY)
OPEN(device_mapper, "/dev/mapper/control", O_WRONLY)
OPEN(device_input, "/dev/uinput", O_WRONLY)
OPEN(device_events, "/dev/input/event0", O_RDONLY)
OPEN(device_vhost_net, "/dev/vhost-net", O_WRONLY)
OPEN(device_vhost_vsock, "/dev/vhost-vsock", O_WRONLY)
OPEN(device_vfio, "/dev/vfio/vfio", O_WRONLY)
OPEN(device_ppp, "/dev/ppp", O_WRONLY)
OPEN(device_rtc, "/dev/rtc0", O_RDONLY)
OPEN(device_hpet, "/dev/hpet", O_RDONLY)
OPEN(device_btrfs, "/dev/btrfs-control", O_WRONLY)
OPEN(device_faults, "/dev/userfaultfd", O_WRONLY)
OPEN(device_buffers, "/dev/udmabuf", O_WRONLY)
OPEN(device_msr, "/dev/cpu/0/msr", O_RDONLY)
OPEN(device_latency, "/dev/cpu_dma_latency", O_WRONLY)
OPEN(device_autofs, "/dev/autofs", O_WRONLY)
OPEN(device_cuse, "/dev/cuse", O_WRONLY)
OPEN(device_screen, "/dev/fb0", O_RDONLY)
OPEN(device_graphics, "/dev/dri/card0", O_WRONLY)
OPEN(device_tpm, "/dev/tpm0", O_WRONLY)
OPEN(device_disk, "/dev/vda", O_RDONLY)
OPEN(device_scsi_disk, "/dev/sda", O_RDONLY)
OPEN(device_nvme_disk, "/dev/nvme0n1", O_RDONLY)
OPEN(device_console, "/dev/console", O_RDONLY)
OPEN(device_terminal, "/dev/tty1", O_RDONLY)

#define TALK(name, what, ref, fn) WARD_ATTEMPT(HARDENING, GAIN, name, what, "seccomp", ref, fn)
#define FILE_(name, what, ref, fn)                                                                 \
	WARD_ATTEMPT(HARDENING, GAIN, name, what, "a view of its own, or no right to the file",    \
		ref, fn)
static const struct ward_attempt rows[] = {
	TALK("netlink-audit", "Opens a socket to the kernel's audit (netlink).", "T1562.012",
		netlink_audit),
	TALK("netlink-netfilter", "Opens a socket to packet filters (netlink).", "CVE-2022-32250",
		netlink_netfilter),
	TALK("netlink-xfrm", "Opens a socket to the settings of IPsec (netlink).", "CVE-2017-16939",
		netlink_xfrm),
	TALK("netlink-connector", "Opens a socket to process events (netlink).", "T1057",
		netlink_connector),
	TALK("netlink-devices", "Opens a socket to device events (netlink).", "T1120",
		netlink_devices),
	TALK("netlink-generic", "Opens a socket to families that modules add (netlink).",
		"CWE-1125", netlink_generic),
	TALK("netlink-rdma", "Opens a socket to RDMA devices (netlink).", "CWE-1125", netlink_rdma),
	TALK("netlink-crypto", "Opens a socket to the kernel's cryptography (netlink).",
		"CVE-2018-19854", netlink_crypto),
	TALK("netlink-diagnosis", "Opens a socket to sockets of all programs (netlink).",
		"T1049, CVE-2013-1763", netlink_diagnosis),
	TALK("netlink-iscsi", "Opens a socket to disks on the network (netlink).", "CVE-2021-27365",
		netlink_iscsi),
	TALK("netlink-security", "Opens a socket to the security module (netlink).", "T1562.001",
		netlink_security),
	TALK("can-socket", "Opens a socket of CAN buses.", "CVE-2021-3609", can_socket),
	TALK("tipc-socket", "Opens a socket of TIPC.", "CVE-2021-43267", tipc_socket),
	TALK("bluetooth-socket", "Opens a socket of Bluetooth.", "CVE-2021-3573", bluetooth_socket),
	TALK("rds-socket", "Opens a socket of RDS.", "CVE-2010-3904", rds_socket),
	TALK("smc-socket", "Opens a socket of SMC.", "CWE-1125", smc_socket),
	TALK("kcm-socket", "Opens a socket of KCM.", "CWE-1125", kcm_socket),
	TALK("x25-socket", "Opens a socket of X.25.", "CVE-2020-35519", x25_socket),
	TALK("ax25-socket", "Opens a socket of AX.25.", "CVE-2022-1199", ax25_socket),
	TALK("appletalk-socket", "Opens a socket of AppleTalk.", "CVE-2023-51781",
		appletalk_socket),
	TALK("rxrpc-socket", "Opens a socket of RxRPC.", "CVE-2023-2006", rxrpc_socket),
	TALK("nfc-socket", "Opens a socket of NFC.", "CVE-2021-23134", nfc_socket),
	TALK("pppox-socket", "Opens a socket of PPP tunnels.", "CVE-2018-9517", pppox_socket),
	TALK("xdp-socket", "Opens a socket of XDP.", "CWE-1125", xdp_socket),
	TALK("ipsec-keys-socket", "Opens a socket of IPsec keys.", "CVE-2022-3028",
		ipsec_keys_socket),
	TALK("llc-socket", "Opens a socket of LLC.", "CVE-2022-28356", llc_socket),
	TALK("phonet-socket", "Opens a socket of Phonet.", "CWE-1125", phonet_socket),
	TALK("caif-socket", "Opens a socket of CAIF.", "CWE-1125", caif_socket),
	TALK("qipcrtr-socket", "Opens a socket of Qualcomm IPC.", "CVE-2021-29647", qipcrtr_socket),
	TALK("sctp-socket", "Opens a socket of SCTP.", "CVE-2019-8956", sctp_socket),
	TALK("dccp-socket", "Opens a socket of DCCP.", "CVE-2017-6074", dccp_socket),
	TALK("mptcp-socket", "Opens a socket of multipath TCP.", "CWE-1125", mptcp_socket),
	TALK("udp-lite-socket", "Opens a socket of UDP-Lite.", "CWE-1125", udp_lite_socket),
	TALK("l2tp-socket", "Opens a socket of L2TP tunnels.", "CVE-2016-10200", l2tp_socket),
	TALK("raw6-socket", "Opens a socket of raw IPv6.", "T1095", raw6_socket),
	FILE_("set-randomize", "Opens the setting of address randomisation.", "CWE-732",
		set_randomize),
	FILE_("set-pointers", "Opens the setting that hides kernel addresses.", "CWE-732",
		set_pointers),
	FILE_("set-log-rights", "Opens the setting that guards the kernel's log.", "CWE-732",
		set_log_rights),
	FILE_("set-panic", "Opens the setting of what follows a panic.", "T1499", set_panic),
	FILE_("set-sysrq", "Opens the setting of the emergency keys.", "CWE-732", set_sysrq),
	FILE_("set-trace-scope", "Opens the setting of who may trace.", "CWE-732", set_trace_scope),
	FILE_("set-bpf", "Opens the setting of who may use bpf.", "CWE-732", set_bpf),
	FILE_("set-perf", "Opens the setting of who may use performance counters.", "CWE-732",
		set_perf),
	FILE_("set-pid-max", "Opens the largest process number.", "T1499", set_pid_max),
	FILE_("set-threads-max", "Opens the largest number of threads.", "T1499", set_threads_max),
	FILE_("set-overcommit", "Opens the setting of how memory is promised.", "T1499",
		set_overcommit),
	FILE_("set-caches", "Opens the trigger that drops caches.", "T1499", set_caches),
	FILE_("set-first-page", "Opens the lowest address that may be mapped.", "CWE-476",
		set_first_page),
	FILE_("set-out-of-memory", "Opens the setting of what follows a lack of memory.", "T1499",
		set_out_of_memory),
	FILE_("set-swappiness", "Opens the setting of what is swapped.", "T1499", set_swappiness),
	FILE_("set-dumpable", "Opens the setting of whose core files are written.", "CWE-528",
		set_dumpable),
	FILE_("set-links", "Opens the setting that protects from links in /tmp.", "CWE-59",
		set_links),
	FILE_("set-hard-links", "Opens the setting that protects from hard links.", "CWE-62",
		set_hard_links),
	FILE_("set-file-max", "Opens the largest number of open files.", "T1499", set_file_max),
	FILE_("register-interpreter", "Opens the list of interpreters for programs.", "T1546",
		register_interpreter),
	FILE_("set-forwarding", "Opens the setting of forwarding.", "T1090", set_forwarding),
	FILE_("set-user-namespaces", "Opens the number of user namespaces.", "CWE-732",
		set_user_namespaces),
	FILE_("timers", "Opens the list of the kernel's timers.", "CWE-200", timers),
	FILE_("slabs", "Opens the list of the kernel's memory pools.", "CWE-200", slabs),
	FILE_("kernel-mappings", "Opens the list of the kernel's mappings.", "CWE-200",
		kernel_mappings),
	FILE_("page-counts", "Opens the counts of all pages of memory.", "CWE-200", page_counts),
	FILE_("page-flags", "Opens the flags of all pages of memory.", "CWE-200", page_flags),
	FILE_("set-interrupts", "Opens the setting of which CPU takes interrupts.", "T1499",
		set_interrupts),
	FILE_("memory-types", "Opens the types of memory ranges.", "T1499", memory_types),
	FILE_("power-state", "Opens the power state of this machine.", "T1529", power_state),
	FILE_("same-pages", "Opens the merging of equal pages, a side channel.", "CWE-203",
		same_pages),
	FILE_("huge-pages", "Opens the setting of huge pages.", "T1499", huge_pages),
	FILE_("crash-memory", "Opens the memory kept for another kernel.", "CWE-284", crash_memory),
	FILE_("cgroup-root", "Opens the host's root control group.", "CVE-2022-0492", cgroup_root),
	FILE_("profiling", "Opens the kernel's profiler.", "CWE-200", profiling),
	FILE_("device-port", "Opens the machine's I/O ports.", "T1611, AML.T0105", device_port),
	FILE_("device-nvram", "Opens the machine's settings memory.", "T1542", device_nvram),
	FILE_("device-loop", "Opens the control of loop devices.", "T1611, AML.T0105", device_loop),
	FILE_("device-mapper", "Opens the control of mapped devices.", "T1611, AML.T0105",
		device_mapper),
	FILE_("device-input", "Opens the device that types as a keyboard.", "T1056", device_input),
	FILE_("device-events", "Opens the keyboard or mouse of this machine.", "T1056.001",
		device_events),
	FILE_("device-vhost-net", "Opens the kernel's virtual network.", "CVE-2019-14835",
		device_vhost_net),
	FILE_("device-vhost-vsock", "Opens the kernel's virtual sockets.", "CVE-2018-14625",
		device_vhost_vsock),
	FILE_("device-vfio", "Opens devices for a virtual machine.", "T1611, AML.T0105",
		device_vfio),
	FILE_("device-ppp", "Opens the kernel's ppp.", "CWE-1125", device_ppp),
	FILE_("device-rtc", "Opens the machine's clock.", "CWE-284", device_rtc),
	FILE_("device-hpet", "Opens the machine's timer.", "CWE-200", device_hpet),
	FILE_("device-btrfs", "Opens the control of btrfs.", "T1611, AML.T0105", device_btrfs),
	FILE_("device-faults", "Opens the device that handles page faults.", "CWE-362",
		device_faults),
	FILE_("device-buffers", "Opens buffers that devices share.", "CVE-2023-2008",
		device_buffers),
	FILE_("device-msr", "Opens the registers of a CPU.", "T1611, AML.T0105", device_msr),
	FILE_("device-latency", "Opens the setting that keeps CPUs awake.", "T1499",
		device_latency),
	FILE_("device-autofs", "Opens the control of automounts.", "T1611, AML.T0105",
		device_autofs),
	FILE_("device-cuse", "Opens the maker of devices.", "T1611, AML.T0105", device_cuse),
	FILE_("device-screen", "Opens the screen.", "T1113", device_screen),
	FILE_("device-graphics", "Opens the graphics card.", "T1113", device_graphics),
	FILE_("device-tpm", "Opens the machine's key store.", "T1552.004", device_tpm),
	FILE_("device-disk", "Opens the first virtual disk.", "T1006", device_disk),
	FILE_("device-scsi-disk", "Opens the first disk.", "T1006", device_scsi_disk),
	FILE_("device-nvme-disk", "Opens the first NVMe disk.", "T1006", device_nvme_disk),
	FILE_("device-console", "Opens the machine's console.", "T1056", device_console),
	FILE_("device-terminal", "Opens a terminal of the machine.", "T1056", device_terminal),
};
WARD_ATTEMPT_TABLE(surface, WARD_ATTACK_SURFACE, "reach rare sockets, files and devices", rows);
