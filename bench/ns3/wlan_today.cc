// The peer for cells of 802.11n, ac and ax: stations around an access point, flows alike, on stock ns-3. `make ns3` builds it;
// validation/ns3/today.py says what it is compared with.
//
// --standard=n|ac|ax --mcs= --width= (MHz) --gi= (ns) --streams= --stations= --window= (of ax) --rts=
// --flow=udp-up|udp-down|tcp-up|tcp-down|tcp-both   --rate= (Mb/s of UDP in all) --queue= (packets) --buffer= (bytes of a socket)
//
// Association and beacons, AC_BE, A-MPDUs as long as the standard has them, no queue disciplines, no losses but collisions. ARP caches are
// filled after association, which empties them. TCP: NewReno with SACK and timestamps, ACKs of every second segment, segments of 1448 B.
// Prints one JSON object: goodput of each flow in Mb/s over `seconds` after `warmup`.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <iostream>

#ifndef NS3_VERSION
#define NS3_VERSION "unknown"
#endif

using namespace ns3;

namespace
{
// All are associated, and have their addresses resolved a little before.
const double START_S = 1.5;
const uint32_t SEGMENT = 1448;
} // namespace

int
main(int argc, char** argv)
{
    std::string standard = "ax", flow = "udp-up";
    uint32_t mcs = 7, width = 20, gi = 800, streams = 1, stations = 1, window = 64, queue = 1000, buffer = 2000000, run = 1;
    double rate = 1500, seconds = 4, warmup = 1;
    bool rts = false;
    CommandLine cmd;
    cmd.AddValue("standard", "n, ac, ax", standard);
    cmd.AddValue("mcs", "of a stream", mcs);
    cmd.AddValue("width", "MHz", width);
    cmd.AddValue("gi", "guard interval, ns", gi);
    cmd.AddValue("streams", "spatial streams", streams);
    cmd.AddValue("stations", "around the access point", stations);
    cmd.AddValue("window", "MPDUs of an agreement of 802.11ax", window);
    cmd.AddValue("rts", "RTS before all data", rts);
    cmd.AddValue("flow", "udp-up, udp-down, tcp-up, tcp-down, tcp-both", flow);
    cmd.AddValue("rate", "UDP offered in all, Mb/s", rate);
    cmd.AddValue("queue", "of each station, packets", queue);
    cmd.AddValue("buffer", "of each socket, bytes", buffer);
    cmd.AddValue("run", "of the random streams", run);
    cmd.AddValue("seconds", "measured", seconds);
    cmd.AddValue("warmup", "before that", warmup);
    cmd.Parse(argc, argv);

    RngSeedManager::SetRun(run);
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(buffer));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpNewReno"));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));
    // Its default of 65,535 counts the whole PSDU: longer A-MPDUs would have an RTS.
    const uint32_t threshold = rts ? 0 : 0x7fffffff;
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(threshold));

    NodeContainer nodes, ap;
    nodes.Create(stations);
    ap.Create(1);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel");
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("ChannelSettings", StringValue("{0, " + std::to_string(width) + ", BAND_5GHZ, 0}"));
    for (auto name : {"Antennas", "MaxSupportedTxSpatialStreams", "MaxSupportedRxSpatialStreams"})
    {
        phy.Set(name, UintegerValue(streams));
    }
    WifiHelper wifi;
    std::string mode = "HeMcs" + std::to_string(mcs);
    wifi.SetStandard(WIFI_STANDARD_80211ax);
    if (standard == "ac")
    {
        wifi.SetStandard(WIFI_STANDARD_80211ac);
        mode = "VhtMcs" + std::to_string(mcs);
    }
    else if (standard == "n")
    {
        wifi.SetStandard(WIFI_STANDARD_80211n);
        mode = "HtMcs" + std::to_string(mcs + 8 * (streams - 1));
    }
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode",
                                 StringValue(mode),
                                 "ControlMode",
                                 StringValue("OfdmRate24Mbps"));
    WifiMacHelper mac;
    mac.SetType("ns3::StaWifiMac", "QosSupported", BooleanValue(true), "Ssid", SsidValue(Ssid("peer")));
    const auto ofNodes = wifi.Install(phy, mac, nodes);
    mac.SetType("ns3::ApWifiMac", "QosSupported", BooleanValue(true), "Ssid", SsidValue(Ssid("peer")));
    const auto ofAp = wifi.Install(phy, mac, ap);
    const NetDeviceContainer devices(ofNodes, ofAp);
    const uint32_t longest = standard == "n" ? 65535 : standard == "ac" ? 1048575 : 6500631;
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->GetMac()->SetAttribute("BE_MaxAmpduSize", UintegerValue(longest));
        if (standard == "ax")
        {
            device->GetHeConfiguration()->SetGuardInterval(NanoSeconds(gi));
            device->GetHeConfiguration()->SetAttribute("MpduBufferSize", UintegerValue(window));
        }
        else
        {
            device->GetHtConfiguration()->SetShortGuardIntervalSupported(gi == 400);
        }
    }

    MobilityHelper mobility;
    auto places = CreateObject<ListPositionAllocator>();
    for (uint32_t i = 0; i < stations; ++i)
    {
        places->Add(Vector(1, 0, 0));
    }
    places->Add(Vector(0, 0, 0));
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
    mobility.Install(ap);

    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    stack.Install(ap);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.0.0");
    const auto nodeAddresses = addresses.Assign(ofNodes);
    const auto apAddress = addresses.Assign(ofAp);
    TrafficControlHelper control;
    control.Uninstall(devices);
    Simulator::Schedule(Seconds(START_S - 0.1), [=]() {
        NeighborCacheHelper cache;
        cache.PopulateNeighborCache(nodeAddresses);
        cache.PopulateNeighborCache(apAddress);
    });

    const bool isUdp = flow.rfind("udp", 0) == 0;
    const std::string factory = isUdp ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory";
    std::vector<Ptr<PacketSink>> sinks;
    auto jitter = CreateObject<UniformRandomVariable>();
    const auto add = [&](uint32_t i, bool isDown, uint16_t port) {
        PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(isDown ? nodes.Get(i) : ap.Get(0)).Get(0)));
        const InetSocketAddress to(isDown ? nodeAddresses.GetAddress(i) : apAddress.GetAddress(0), port);
        const auto from = isDown ? ap.Get(0) : nodes.Get(i);
        ApplicationContainer source;
        if (isUdp)
        {
            OnOffHelper helper(factory, to);
            helper.SetConstantRate(DataRate(uint64_t(rate * 1e6 / stations)), SEGMENT);
            source = helper.Install(from);
            source.Start(Seconds(START_S + jitter->GetValue(0, 0.02)));
        }
        else
        {
            BulkSendHelper helper(factory, to);
            helper.SetAttribute("SendSize", UintegerValue(SEGMENT));
            source = helper.Install(from);
            source.Start(Seconds(START_S + 0.01 * i));
        }
        source.Stop(Seconds(START_S + warmup + seconds));
    };
    for (uint32_t i = 0; i < stations; ++i)
    {
        if (flow != "tcp-up" && flow != "udp-up")
        {
            add(i, true, 5000 + i);
        }
        if (flow != "tcp-down" && flow != "udp-down")
        {
            add(i, false, 6000 + i);
        }
    }

    Simulator::Stop(Seconds(START_S + warmup));
    Simulator::Run();
    std::vector<uint64_t> before;
    for (const auto& sink : sinks)
    {
        before.push_back(sink->GetTotalRx());
    }
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << "{\"ns3_version\": \"" NS3_VERSION "\", \"run\": " << run << ", \"goodput_mbps\": [";
    for (size_t i = 0; i < sinks.size(); ++i)
    {
        std::cout << (i ? ", " : "") << (sinks[i]->GetTotalRx() - before[i]) * 8 / seconds / 1e6;
    }
    std::cout << "]}\n";
    Simulator::Destroy();
}
