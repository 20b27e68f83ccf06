// The peer for rate controls: stations at one distance send saturated UDP to one more node, on stock ns-3. `make ns3` builds it;
// validation/ns3/rates.py says what it is compared with.
//
// --standard=a|n --manager=Arf|Aarf|Cara|MinstrelHt --distance= (m) --stations= --exponent= --ampdu= (1: A-MPDUs, of n)
//
// With a the nodes are ad hoc, without QoS; with n there is an access point. Path loss by the logarithm of distance, 46.68 dB at 1 m; 16.02 dBm; a noise figure of
// 7 dB; NIST's error curves with a, tables with n. A preamble is found from 4 dB on, whatever its power. No queue disciplines; packets do not age; ARP caches filled. Prints one
// JSON object: goodput over `seconds` after `warmup`, and data frames by mode.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"

#include <iostream>
#include <map>
#include <sstream>

#ifndef NS3_VERSION
#define NS3_VERSION "unknown"
#endif

using namespace ns3;

namespace
{
const double START_S = 1.5;
std::map<std::string, uint64_t> g_modes;

void
Sent(Ptr<const Packet> packet, uint16_t, WifiTxVector vector, MpduInfo, uint16_t)
{
    WifiMacHeader header;
    packet->PeekHeader(header);
    if (header.IsRts() || (header.IsData() && !header.GetAddr1().IsGroup()))
    {
        ++g_modes[header.IsRts() ? "RTS" : vector.GetMode().GetUniqueName()];
    }
}
} // namespace

int
main(int argc, char** argv)
{
    std::string standard = "a", manager = "Arf";
    uint32_t stations = 1, run = 1, ampdu = 1, queue = 1000;
    double distance = 10, exponent = 3, seconds = 4, warmup = 1;
    CommandLine cmd;
    cmd.AddValue("standard", "a, n", standard);
    cmd.AddValue("manager", "Arf, Aarf, Cara, MinstrelHt", manager);
    cmd.AddValue("stations", "that send", stations);
    cmd.AddValue("distance", "of each from the receiver, m", distance);
    cmd.AddValue("exponent", "of the path loss", exponent);
    cmd.AddValue("ampdu", "A-MPDUs or not", ampdu);
    cmd.AddValue("queue", "packets", queue);
    cmd.AddValue("run", "of the random streams", run);
    cmd.AddValue("seconds", "measured", seconds);
    cmd.AddValue("warmup", "before that", warmup);
    cmd.Parse(argc, argv);
    const bool isAdhoc = standard == "a";
    RngSeedManager::SetRun(run);
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(1000)));
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue)));
    Config::SetDefault("ns3::WifiRemoteStationManager::RtsCtsThreshold", UintegerValue(0x7fffffff));
    Config::SetDefault("ns3::ThresholdPreambleDetectionModel::MinimumRssi", DoubleValue(-120));
    Config::SetDefault("ns3::ApWifiMac::BeaconInterval", TimeValue(MicroSeconds(1024000)));

    NodeContainer nodes, sinkNode;
    nodes.Create(stations);
    sinkNode.Create(1);
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel",
                               "Exponent",
                               DoubleValue(exponent),
                               "ReferenceLoss",
                               DoubleValue(46.68));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.SetErrorRateModel(isAdhoc ? "ns3::NistErrorRateModel" : "ns3::TableBasedErrorRateModel");
    phy.Set("RxSensitivity", DoubleValue(-120));
    phy.Set("TxPowerStart", DoubleValue(16.02));
    phy.Set("TxPowerEnd", DoubleValue(16.02));
    WifiHelper wifi;
    wifi.SetStandard(isAdhoc ? WIFI_STANDARD_80211a : WIFI_STANDARD_80211n);
    if (!isAdhoc)
    {
        phy.Set("ChannelSettings", StringValue("{0, 20, BAND_5GHZ, 0}"));
    }
    wifi.SetRemoteStationManager("ns3::" + manager + "WifiManager");
    WifiMacHelper mac;
    const Ssid ssid("peer");
    if (isAdhoc)
    {
        mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    }
    else
    {
        mac.SetType("ns3::StaWifiMac", "QosSupported", BooleanValue(true), "Ssid", SsidValue(ssid));
    }
    const auto ofNodes = wifi.Install(phy, mac, nodes);
    if (!isAdhoc)
    {
        mac.SetType("ns3::ApWifiMac", "QosSupported", BooleanValue(true), "Ssid", SsidValue(ssid));
    }
    const auto ofSink = wifi.Install(phy, mac, sinkNode);
    const NetDeviceContainer devices(ofNodes, ofSink);
    for (uint32_t i = 0; !isAdhoc && i < devices.GetN(); ++i)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->GetMac()->SetAttribute("BE_MaxAmpduSize", UintegerValue(ampdu ? 65535 : 0));
        device->GetHtConfiguration()->SetShortGuardIntervalSupported(false);
    }

    MobilityHelper mobility;
    auto places = CreateObject<ListPositionAllocator>();
    for (uint32_t i = 0; i < stations; ++i)
    {
        places->Add(Vector(distance, 0, 0));
    }
    places->Add(Vector(0, 0, 0));
    mobility.SetPositionAllocator(places);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
    mobility.Install(sinkNode);

    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    stack.Install(sinkNode);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.0.0");
    const auto nodeAddresses = addresses.Assign(ofNodes);
    const auto sinkAddress = addresses.Assign(ofSink);
    TrafficControlHelper control;
    control.Uninstall(devices);
    Simulator::Schedule(Seconds(START_S - 0.1), [=]() {
        NeighborCacheHelper cache;
        cache.PopulateNeighborCache(nodeAddresses);
        cache.PopulateNeighborCache(sinkAddress);
    });

    PacketSinkHelper helper("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5000));
    auto sink = DynamicCast<PacketSink>(helper.Install(sinkNode).Get(0));
    auto jitter = CreateObject<UniformRandomVariable>();
    for (uint32_t i = 0; i < stations; ++i)
    {
        OnOffHelper source("ns3::UdpSocketFactory", InetSocketAddress(sinkAddress.GetAddress(0), 5000));
        source.SetConstantRate(DataRate(uint64_t((isAdhoc ? 40e6 : 80e6) / stations)), 1472);
        auto app = source.Install(nodes.Get(i));
        app.Start(Seconds(START_S + jitter->GetValue(0, 0.02)));
        app.Stop(Seconds(START_S + warmup + seconds));
    }

    Simulator::Stop(Seconds(START_S + warmup));
    Simulator::Run();
    for (uint32_t i = 0; i < stations; ++i)
    {
        const auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        device->GetPhy()->TraceConnectWithoutContext("MonitorSnifferTx", MakeCallback(&Sent));
    }
    const uint64_t before = sink->GetTotalRx();
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::cout << "{\"ns3_version\": \"" NS3_VERSION "\", \"run\": " << run
              << ", \"goodput_mbps\": " << (sink->GetTotalRx() - before) * 8 / seconds / 1e6 << ", \"modes\": {";
    const char* comma = "";
    for (const auto& [mode, count] : g_modes)
    {
        std::cout << comma << "\"" << mode << "\": " << count;
        comma = ", ";
    }
    std::cout << "}}\n";
    Simulator::Destroy();
}
