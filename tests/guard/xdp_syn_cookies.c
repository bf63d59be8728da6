// XDP program for the comparison: answers SYNs to one TCP port range with the kernel's own SYN cookies
// (bpf_tcp_raw_gen_syncookie_ipv4), before the stack sees them. The client's ACK goes on to nftables' SYNPROXY, which
// knows the same cookies. Built with clang -target bpf; needs no header but the kernel's.
//
// A SYN with the options in the order in which Linux sends them keeps them (MSS, SACK, timestamps, window scale), as
// SYNPROXY encodes them in the low bits of TSval. Any other SYN is answered without options. IPv4 without options only.
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/tcp.h>

#define SEC(name) __attribute__((section(name), used))
#define htons(x) __builtin_bswap16(x)
#define htonl(x) __builtin_bswap32(x)

static long (*gen_syncookie)(struct iphdr*, struct tcphdr*, __u32) = (void*)204;
static __u64 (*now_ns)(void) = (void*)5;
static __s64 (*csum_diff)(__be32*, __u32, __be32*, __u32, __u32) = (void*)28;
static long (*adjust_tail)(struct xdp_md*, int) = (void*)65;

struct linux_options {  // of a SYN: MSS, SACK-permitted, timestamps, NOP, window scale
  __u8 mss_kind, mss_size;
  __be16 mss;
  __u8 sack_kind, sack_size, ts_kind, ts_size;
  __be32 ts_value, ts_echo;
  __u8 nop, scale_kind, scale_size, scale;
};

static __always_inline __u16 folded(__u64 sum) {
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return ~sum;
}

SEC("xdp") int answer_syns(struct xdp_md* context) {
  void* end = (void*)(long)context->data_end;
  struct ethhdr* eth = (void*)(long)context->data;
  struct iphdr* ip = (void*)(eth + 1);
  struct tcphdr* tcp = (void*)(ip + 1);
  if ((void*)(tcp + 1) > end || eth->h_proto != htons(ETH_P_IP) || ip->ihl != 5 || ip->protocol != IPPROTO_TCP)
    return XDP_PASS;
  if (tcp->dest != htons(PORT) && tcp->dest != htons(SECOND_PORT)) return XDP_PASS;
  if (!tcp->syn || tcp->ack || tcp->rst || tcp->fin) return XDP_PASS;
  struct linux_options* options = (void*)(tcp + 1);
  int is_linux = tcp->doff == 10 && (void*)(options + 1) <= end && options->mss_kind == 2 && options->sack_kind == 4 &&
                 options->ts_kind == 8 && options->scale_kind == 3;
  long cookie;
  if (is_linux) {
    cookie = gen_syncookie(ip, tcp, sizeof *tcp + sizeof *options);
  } else {
    int more = (int)((void*)(tcp + 1) - end);
    if (more != 0 && adjust_tail(context, more)) return XDP_DROP;
    end = (void*)(long)context->data_end;
    eth = (void*)(long)context->data;
    ip = (void*)(eth + 1);
    tcp = (void*)(ip + 1);
    if ((void*)(tcp + 1) > end) return XDP_DROP;
    tcp->doff = 5;
    cookie = gen_syncookie(ip, tcp, sizeof *tcp);
  }
  if (cookie < 0) return XDP_DROP;

  for (int i = 0; i < ETH_ALEN; ++i) {
    __u8 octet = eth->h_source[i];
    eth->h_source[i] = eth->h_dest[i];
    eth->h_dest[i] = octet;
  }
  __be32 address = ip->saddr;
  ip->saddr = ip->daddr;
  ip->daddr = address;
  ip->ttl = 64;
  ip->tos = 0;
  ip->tot_len = htons(is_linux ? 60 : 40);
  ip->check = 0;
  ip->check = folded(csum_diff(0, 0, (__be32*)ip, sizeof *ip, 0));
  __be16 port = tcp->source;
  tcp->source = tcp->dest;
  tcp->dest = port;
  tcp->ack_seq = htonl(htonl(tcp->seq) + 1);
  tcp->seq = htonl((__u32)cookie);
  ((__u8*)tcp)[13] = 0x12;  // SYN, ACK
  tcp->window = 0;
  tcp->check = 0;
  __u64 sum = (__u64)ip->saddr + ip->daddr;
  sum = (sum & 0xffffffff) + (sum >> 32);
  if (is_linux) {
    options = (void*)(tcp + 1);
    if ((void*)(options + 1) > (void*)(long)context->data_end) return XDP_DROP;
    __u32 stamp = (__u32)(now_ns() / 1000000) & ~0x3fU;
    stamp |= (options->scale & 0xf) | 1 << 4;
    options->mss = htons((__u16)((unsigned long)cookie >> 32));
    options->ts_echo = options->ts_value;
    options->ts_value = htonl(stamp);
    options->scale = SCALE;
    sum += htons(IPPROTO_TCP) + htons(40);
    sum = csum_diff(0, 0, (__be32*)tcp, 40, (__u32)((sum & 0xffffffff) + (sum >> 32)));
  } else {
    sum += htons(IPPROTO_TCP) + htons(20);
    sum = csum_diff(0, 0, (__be32*)tcp, 20, (__u32)((sum & 0xffffffff) + (sum >> 32)));
  }
  tcp->check = folded(sum);
  return XDP_TX;
}

// For the other end of the link: without a program there, a veth takes no frame that XDP sends.
SEC("pass") int pass_all(struct xdp_md* context) {
  return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
