// The peer for speed and validation: n stations and one more (an access point, or an ad hoc station) in an 802.11a cell on
// stock ns-3, one flow each. `make ns3` builds it; bench/README.md says what it matches and what it cannot. --ax=1 makes it a
// cell of 802.11ax: 80 MHz, MCS 11, two streams, guard interval 0.8 us, EDCA, agreements of 256 MPDUs, A-MPDUs as long as a PPDU.
//
// By default ns-3's TCP is what Interlayer's is: no SACK, timestamps, window scaling or limited transmit, NewReno's own
// recovery instead of PRR, IW 1, RTO >= 0.2 s, Nagle's algorithm, buffers of 65535 B (--window), no queue disciplines above
// the MAC; DCF instead of EDCA; RTS at 24 Mb/s, as CTS and ACK are after 54 Mb/s; ARP caches filled; packets do not age in
// the MAC queue of 500.
// --plain=0 --qos=1 --control=OfdmRate6Mbps --arp=1 --lifetime_ms=500 give ns-3's own defaults back.
//
// Prints one JSON object. Rates and counters cover `seconds` after `start + warmup`; wall_s and cpu_s cover Simulator::Run
// from `start` on: association and beacons before it are not timed.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <chrono>
#include <ctime>
#include <iostream>

#ifndef NS3_VERSION
#define NS3_VERSION "unknown"
#endif

using namespace ns3;

namespace
{
/// What the cell did. An exchange begins with an RTS or with a data frame that has none before it.
struct Counts
{
    uint64_t exchanges = 0, data = 0, retried = 0, rts = 0, dataFailed = 0, rtsFailed = 0, givenUp = 0, dropped = 0;
};

Counts g_counts;
uint32_t g_rtsThreshold = 65535;

void
TxBegin(Ptr<const Packet> packet, double)
{
    WifiMacHeader header;
    packet->PeekHeader(header);
    if (header.IsRts())
    {
        ++g_counts.rts;
        ++g_counts.exchanges;
    }
    else if (header.IsData() && !header.GetAddr1().IsGroup())
    {
        ++g_counts.data;
        g_counts.retried += header.IsRetry();
        g_counts.exchanges += packet->GetSize() <= g_rtsThreshold; // trace and threshold both include header and FCS
    }
}

void
DataFailed(Mac48Address)
{
    ++g_counts.dataFailed;
}

void
RtsFailed(Mac48Address)
{
    ++g_counts.rtsFailed;
}

void
GivenUp(Mac48Address)
{
    ++g_counts.givenUp;
}

void
Expired(Ptr<const WifiMpdu>)
{
    ++g_counts.dropped;
}

void
NoRoom(Ptr<const Packet>)
{
    ++g_counts.dropped;
}

std::vector<uint64_t>
Received(const std::vector<Ptr<PacketSink>>& sinks)
{
    std::vector<uint64_t> bytes;
    for (const auto& sink : sinks)
    {
        bytes.push_back(sink->GetTotalRx());
    }
    return bytes;
}
} // namespace

int
main(int argc, char** argv)
{
    uint32_t n = 6, mss = 536, run = 1, delack = 2, lifetimeMs = 1000000, window = 65535, queue = 500;
    double seconds = 30, warmup = 0, radius = 4, capture = -1;
    bool rts = false, qos = false, download = false, grid = false, plain = true, udp = false, adhoc = false, together = false,
         arp = false, count = true, ax = false, options = false;
    std::string cc = "ns3::TcpNewReno", rate = "OfdmRate54Mbps", control = "OfdmRate24Mbps";
    CommandLine cmd;
    cmd.AddValue("n", "stations", n);
    cmd.AddValue("seconds", "measured time", seconds);
    cmd.AddValue("warmup", "time between the flows' start and the measurement", warmup);
    cmd.AddValue("radius", "m (star) or spacing m (grid 3x3, AP in the middle)", radius);
    cmd.AddValue("grid", "3x3 grid", grid);
    cmd.AddValue("together", "every station at one point: all powers are equal at everybody", together);
    cmd.AddValue("run", "random run", run);
    cmd.AddValue("rts", "RTS/CTS for MPDUs above 200 B", rts);
    cmd.AddValue("qos", "802.11e", qos);
    cmd.AddValue("adhoc", "no association, no beacons", adhoc);
    cmd.AddValue("download", "AP to stations", download);
    cmd.AddValue("udp", "saturated UDP, datagrams of 1500 B, instead of TCP", udp);
    cmd.AddValue("delack", "segments per ACK", delack);
    cmd.AddValue("capture", "capture margin dB, negative = off", capture);
    cmd.AddValue("mss", "B", mss);
    cmd.AddValue("window", "B of each TCP buffer; from plain", window);
    cmd.AddValue("options", "SACK, timestamps and window scaling beside plain", options);
    cmd.AddValue("queue", "packets of the MAC queue", queue);
    cmd.AddValue("plain", "TCP as in Interlayer, see the head of this file; no queue discs", plain);
    cmd.AddValue("cc", "TypeId of the congestion control", cc);
    cmd.AddValue("rate", "data mode", rate);
    cmd.AddValue("control", "mode of RTS; CTS and ACK follow the basic rates, 6, 12 and 24 Mb/s whatever is asked for", control);
    cmd.AddValue("lifetime_ms", "how long a packet may wait in the MAC queue", lifetimeMs);
    cmd.AddValue("arp", "resolve addresses by ARP instead of knowing them", arp);
    cmd.AddValue("count", "count frames and failures", count);
    cmd.AddValue("ax", "802.11ax, see the head of this file", ax);
    cmd.Parse(argc, argv);
    if (ax)
    {
        qos = true;
        rate = "HeMcs11";
        // ns-3's own of 65535 B would have an RTS before long A-MPDUs.
        Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(4692480));
    }
    if (grid)
    {
        n = 8;
    }
    RngSeedManager::SetRun(run);
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mss));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(delack));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(cc));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(MilliSeconds(lifetimeMs)));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));
    if (plain)
    {
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
        Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(options));
        Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(options));
        Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(options));
        Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
        Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(1));
        Config::SetDefault("ns3::TcpSocket::TcpNoDelay", BooleanValue(false));
        Config::SetDefault("ns3::BulkSendApplication::SendSize", UintegerValue(mss)); // 512 makes short segments
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(window));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window));
    }
    if (rts)
    {
        g_rtsThreshold = 200;
        Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(g_rtsThreshold));
    }

    NodeContainer stations, ap;
    stations.Create(n);
    ap.Create(1);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel",
                               "Exponent", DoubleValue(3.5),
                               "ReferenceDistance", DoubleValue(1),
                               "ReferenceLoss", DoubleValue(46.67));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(18));
    phy.Set("TxPowerEnd", DoubleValue(18));
    if (capture >= 0)
    {
        phy.SetFrameCaptureModel("ns3::SimpleFrameCaptureModel", "Margin", DoubleValue(capture));
    }
    WifiHelper wifi;
    wifi.SetStandard(ax ? WIFI_STANDARD_80211ax : WIFI_STANDARD_80211a);
    if (ax)
    {
        phy.Set("ChannelSettings", StringValue("{0, 80, BAND_5GHZ, 0}"));
        phy.Set("Antennas", UintegerValue(2));
        phy.Set("MaxSupportedTxSpatialStreams", UintegerValue(2));
        phy.Set("MaxSupportedRxSpatialStreams", UintegerValue(2));
        wifi.ConfigHeOptions("GuardInterval", TimeValue(NanoSeconds(800)), "MpduBufferSize", UintegerValue(256));
    }
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue(rate),
                                 "ControlMode", StringValue(control));
    WifiMacHelper mac;
    Ssid ssid("peer");
    const uint32_t longest = ax ? 6500631 : 65535; // ns-3's own, which counts where there are agreements
    auto install = [&](const char* role, NodeContainer nodes) {
        if (adhoc)
        {
            mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(qos), "BE_MaxAmpduSize", UintegerValue(longest));
        }
        else
        {
            mac.SetType(role, "QosSupported", BooleanValue(qos), "BE_MaxAmpduSize", UintegerValue(longest), "Ssid", SsidValue(ssid));
        }
        return wifi.Install(phy, mac, nodes);
    };
    NetDeviceContainer stationDevices = install("ns3::StaWifiMac", stations);
    NetDeviceContainer apDevice = install("ns3::ApWifiMac", ap);
    const NetDeviceContainer devices(stationDevices, apDevice);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        auto manager = device->GetRemoteStationManager();
        if (count)
        {
            device->GetPhy()->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&TxBegin));
            manager->TraceConnectWithoutContext("MacTxDataFailed", MakeCallback(&DataFailed));
            manager->TraceConnectWithoutContext("MacTxRtsFailed", MakeCallback(&RtsFailed));
            manager->TraceConnectWithoutContext("MacTxFinalDataFailed", MakeCallback(&GivenUp));
            manager->TraceConnectWithoutContext("MacTxFinalRtsFailed", MakeCallback(&GivenUp));
            auto queue = device->GetMac()->GetTxopQueue(qos ? AC_BE : AC_BE_NQOS);
            queue->TraceConnectWithoutContext("Expired", MakeCallback(&Expired));
        }
    }

    MobilityHelper mobility;
    auto places = CreateObject<ListPositionAllocator>();
    if (grid)
    {
        for (int y = -1; y <= 1; ++y)
        {
            for (int x = -1; x <= 1; ++x)
            {
                if (x || y)
                {
                    places->Add(Vector(x * radius, y * radius, 0));
                }
            }
        }
    }
    else
    {
        for (uint32_t i = 0; i < n; ++i)
        {
            const double at = together ? 0 : 2 * M_PI * i / n;
            places->Add(Vector(radius * std::cos(at), radius * std::sin(at), 0));
        }
    }
    places->Add(Vector(0, 0, 0));
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(stations);
    mobility.Install(ap);

    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(stations);
    stack.Install(ap);
    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.0.0");
    auto stationIf = address.Assign(stationDevices);
    auto apIf = address.Assign(apDevice);
    if (plain)
    {
        TrafficControlHelper discs; // installed by Assign; the MAC queue of 500 packets remains
        discs.Uninstall(stationDevices);
        discs.Uninstall(apDevice);
    }
    for (auto node = NodeList::Begin(); count && node != NodeList::End(); ++node)
    {
        // A full MAC queue stops the device; without a queue disc the layer above then drops.
        (*node)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop", MakeCallback(&NoRoom));
    }
    if (!arp)
    {
        NeighborCacheHelper caches;
        caches.PopulateNeighborCache(stationIf);
        caches.PopulateNeighborCache(apIf);
    }

    const double start = adhoc ? 0.1 : 2;
    const double end = start + warmup + seconds;
    const std::string factory = udp ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory";
    std::vector<Ptr<PacketSink>> sinks;
    auto jitter = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < n; ++i)
    {
        const uint16_t port = 5000 + i;
        PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
        auto sinkApp = sink.Install(download ? stations.Get(i) : ap.Get(0));
        sinks.push_back(DynamicCast<PacketSink>(sinkApp.Get(0)));
        const InetSocketAddress to(download ? stationIf.GetAddress(i) : apIf.GetAddress(0), port);
        auto from = download ? ap.Get(0) : stations.Get(i);
        ApplicationContainer app;
        if (udp)
        {
            // Well above a fair share, and a packet each 20 ms at least: queues fill at once and never run empty.
            OnOffHelper source(factory, to);
            source.SetConstantRate(DataRate(uint64_t(std::max(48e6 / n, 0.6e6))), 1472);
            app = source.Install(from);
            app.Start(Seconds(start + jitter->GetValue(0, 0.02)));
        }
        else
        {
            BulkSendHelper bulk(factory, to);
            app = bulk.Install(from);
            app.Start(Seconds(start + 0.01 * i));
        }
        app.Stop(Seconds(end));
    }

    Simulator::Stop(Seconds(start));
    Simulator::Run();
    const uint64_t eventsBefore = Simulator::GetEventCount();
    const auto t0 = std::chrono::steady_clock::now();
    const std::clock_t c0 = std::clock();
    Simulator::Stop(Seconds(warmup));
    Simulator::Run();
    const auto before = Received(sinks);
    const Counts then = g_counts;
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    const double cpu = double(std::clock() - c0) / CLOCKS_PER_SEC;
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    const auto after = Received(sinks);

    double sum = 0, squares = 0;
    std::cout << "{\"ns3_version\": \"" << NS3_VERSION << "\", \"run\": " << run << ", \"goodput_mbps\": [";
    for (uint32_t i = 0; i < n; ++i)
    {
        const double x = (after[i] - before[i]) * 8 / seconds / 1e6;
        sum += x;
        squares += x * x;
        std::cout << (i ? ", " : "") << x;
    }
    const Counts& c = g_counts;
    std::cout << "], \"total_mbps\": " << sum << ", \"jain\": " << sum * sum / n / squares
              << ", \"exchanges\": " << c.exchanges - then.exchanges << ", \"data_frames\": " << c.data - then.data
              << ", \"data_frames_retried\": " << c.retried - then.retried << ", \"rts\": " << c.rts - then.rts
              << ", \"failures\": " << c.dataFailed + c.rtsFailed - then.dataFailed - then.rtsFailed
              << ", \"given_up\": " << c.givenUp - then.givenUp << ", \"queue_drops\": " << c.dropped - then.dropped
              << ", \"events\": " << Simulator::GetEventCount() - eventsBefore << ", \"wall_s\": " << wall
              << ", \"cpu_s\": " << cpu << "}\n";
    Simulator::Destroy();
}
