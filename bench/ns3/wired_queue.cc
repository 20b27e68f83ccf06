// The peer for validation/queue: bulk flows (stock ns-3's TCP, or UDP beyond the rate) and one sparse UDP flow over one wired bottleneck with a queue
// discipline. `make ns3` builds it; validation/queue/README.md says what it matches and what it cannot.
//
// TCP as in wired_cc.cc: SACK on both sides, no timestamps, an ACK for every segment, no ECN. The device holds one packet beside the one
// that it sends; times are those in the queue discipline, from enqueue to dequeue, so that it does not count.
//
// Prints one JSON object. All figures cover `seconds` after `warmup`, and packets that leave; one that CoDel drops at the head does not.
//
// `--trace=FILE` writes what came and what left, for `replay.rs` of crate queue: "E ns bytes flow" and "D ns", in the order of events.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <vector>

#ifndef NS3_VERSION
#define NS3_VERSION "unknown"
#endif

using namespace ns3;

static double g_warmup = 10;
static std::vector<double> g_sparse;
static double g_sum = 0;
static uint64_t g_left = 0;

static std::ofstream g_trace;
static Ptr<const QueueDiscItem> g_last; // dequeued, and perhaps dropped right away

static Ptr<const Ipv4QueueDiscItem>
Datagram(Ptr<const QueueDiscItem> item)
{
    return DynamicCast<const Ipv4QueueDiscItem>(item);
}

static bool
IsSparse(Ptr<const QueueDiscItem> item)
{
    return Datagram(item) && Datagram(item)->GetHeader().GetProtocol() == 17 && item->GetSize() <= 200;
}

/** Counts what left last, now that it was not dropped. */
static void
Settle()
{
    Ptr<const QueueDiscItem> item = g_last;
    g_last = nullptr;
    if (!item)
    {
        return;
    }
    if (g_trace.is_open())
    {
        g_trace << "D " << Simulator::Now().GetNanoSeconds() << "\n";
    }
    if (Simulator::Now().GetSeconds() < g_warmup)
    {
        return;
    }
    double wait = (Simulator::Now() - item->GetTimeStamp()).GetSeconds();
    g_sum += wait;
    g_left++;
    if (IsSparse(item))
    {
        g_sparse.push_back(wait);
    }
}

static void
Came(Ptr<const QueueDiscItem> item)
{
    Settle();
    if (!g_trace.is_open())
    {
        return;
    }
    // The ports, in the first four bytes after the IP header; the sparse flow is 0.
    uint8_t ports[4];
    item->GetPacket()->CopyData(ports, 4);
    uint32_t flow = IsSparse(item) ? 0 : ports[0] << 24 | ports[1] << 16 | ports[2] << 8 | ports[3];
    g_trace << "E " << Simulator::Now().GetNanoSeconds() << " " << item->GetSize() << " " << flow << "\n";
}

/** Events of one dequeue stand together: it is settled before time goes on. */
static void
Left(Ptr<const QueueDiscItem> item)
{
    Settle();
    g_last = item;
    Simulator::ScheduleNow(&Settle);
}

static void
Dropped(Ptr<const QueueDiscItem> item, const char*)
{
    if (g_last == item)
    {
        g_last = nullptr;
    }
}

static void
SendSparse(Ptr<Socket> socket, Ptr<ExponentialRandomVariable> gap, uint32_t payload)
{
    socket->Send(Create<Packet>(payload));
    Simulator::Schedule(Seconds(gap->GetValue()), &SendSparse, socket, gap, payload);
}

int
main(int argc, char* argv[])
{
    std::string disc = "FqCoDelQueueDisc";
    std::string cc = "TcpLinuxReno";
    double udp = 0;
    double rate = 10e6;
    double rtt = 0.05;
    double seconds = 60;
    double every = 0.02;
    uint32_t packets = 1000;
    uint32_t segment = 1460;
    uint32_t bulks = 4;
    uint32_t run = 1;
    CommandLine cmd;
    cmd.AddValue("disc", "FifoQueueDisc, CoDelQueueDisc, FqCoDelQueueDisc", disc);
    cmd.AddValue("cc", "congestion control of the bulk flows", cc);
    cmd.AddValue("udp", "of each bulk flow, in b/s of payload, Poisson datagrams; 0: it is TCP", udp);
    cmd.AddValue("rate", "of IP bytes, in b/s", rate);
    cmd.AddValue("rtt", "in s, without queues and transmission", rtt);
    cmd.AddValue("warmup", "in s", g_warmup);
    cmd.AddValue("seconds", "counted after it", seconds);
    cmd.AddValue("every", "mean time between datagrams of the sparse flow, in s", every);
    cmd.AddValue("packets", "that the queue holds", packets);
    cmd.AddValue("segment", "payload in bytes", segment);
    cmd.AddValue("bulks", "bulk flows", bulks);
    cmd.AddValue("run", "of the random numbers", run);
    std::string trace;
    cmd.AddValue("trace", "where to write what came and left", trace);
    cmd.Parse(argc, argv);
    if (!trace.empty())
    {
        g_trace.open(trace);
    }
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(run);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + cc)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::TcpPrrRecovery")));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8000000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4000000));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));

    // CoDel drops nothing while at most one full packet is left (RFC 8289, section 5.6). ns-3 asks for less than MinBytes, which is 1500 unless set.
    Config::SetDefault("ns3::CoDelQueueDisc::MinBytes", UintegerValue(segment + 41));

    NodeContainer nodes(2);
    PointToPointHelper wire;
    // The device counts two bytes of PPP; the rate given is that of IP bytes.
    double onWire = rate * (segment + 42) / (segment + 40);
    wire.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(onWire))));
    wire.SetChannelAttribute("Delay", TimeValue(Seconds(rtt / 2)));
    wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, 1)));
    NetDeviceContainer devices = wire.Install(nodes);
    // What the other direction holds has no discipline.
    DynamicCast<PointToPointNetDevice>(devices.Get(1))->GetQueue()->SetMaxSize(QueueSize(QueueSizeUnit::PACKETS, 1000));

    InternetStackHelper().Install(nodes);
    TrafficControlHelper control;
    if (disc == "FqCoDelQueueDisc")
    {
        control.SetRootQueueDisc("ns3::" + disc, "UseEcn", BooleanValue(false), "MaxSize",
                                 QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, packets)));
    }
    else
    {
        control.SetRootQueueDisc("ns3::" + disc, "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, packets)));
    }
    Ptr<QueueDisc> queue = control.Install(devices.Get(0)).Get(0);
    if (Ptr<FqCoDelQueueDisc> fq = DynamicCast<FqCoDelQueueDisc>(queue))
    {
        fq->SetQuantum(1514);
    }
    queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&Came));
    queue->TraceConnectWithoutContext("Dequeue", MakeCallback(&Left));
    queue->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&Dropped));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    control.Uninstall(devices.Get(1));

    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 0; i < bulks; i++)
    {
        InetSocketAddress at(Ipv4Address::GetAny(), 5000 + i);
        PacketSinkHelper sink(udp > 0 ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory", at);
        sinks.push_back(sink.Install(nodes.Get(1)).Get(0)->GetObject<PacketSink>());
        if (udp > 0)
        {
            Ptr<Socket> socket = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
            Ptr<ExponentialRandomVariable> gap = CreateObject<ExponentialRandomVariable>();
            gap->SetAttribute("Mean", DoubleValue(8 * (segment + 12) / udp));
            Simulator::Schedule(Seconds(0.2 * i), [=]() {
                socket->Connect(InetSocketAddress(interfaces.GetAddress(1), 5000 + i));
                SendSparse(socket, gap, segment + 12);
            });
            continue;
        }
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 5000 + i));
        bulk.SetAttribute("SendSize", UintegerValue(segment));
        bulk.Install(nodes.Get(0)).Start(Seconds(0.2 * i + 0.1 * start->GetValue()));
    }
    PacketSinkHelper("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 4000)).Install(nodes.Get(1));
    Ptr<Socket> socket = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
    Ptr<ExponentialRandomVariable> gap = CreateObject<ExponentialRandomVariable>();
    gap->SetAttribute("Mean", DoubleValue(every));
    Simulator::Schedule(Seconds(1), [&]() {
        socket->Connect(InetSocketAddress(interfaces.GetAddress(1), 4000));
        SendSparse(socket, gap, 72);
    });

    uint64_t before = 0;
    auto received = [&]() {
        uint64_t all = 0;
        for (const auto& sink : sinks)
        {
            all += sink->GetTotalRx();
        }
        return all;
    };
    Simulator::Schedule(Seconds(g_warmup), [&]() { before = received(); });
    Simulator::Stop(Seconds(g_warmup + seconds));
    Simulator::Run();
    double goodput = 8.0 * (received() - before) / seconds / 1e6;
    std::sort(g_sparse.begin(), g_sparse.end());
    double sum = 0;
    for (double wait : g_sparse)
    {
        sum += wait;
    }
    size_t n = g_sparse.size();
    std::cout << "{\"ns3_version\": \"" << NS3_VERSION << "\", \"goodput_mbps\": " << goodput
              << ", \"wait_ms\": " << 1e3 * g_sum / g_left << ", \"sparse_ms\": " << 1e3 * sum / n
              << ", \"sparse_p95_ms\": " << 1e3 * g_sparse[std::min(n - 1, n * 95 / 100)]
              << ", \"sparse_packets\": " << n << ", \"left\": " << g_left << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
