// What the peers of cells and of networks share: words of the command line, nodes with addresses, sinks.
#pragma once

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
#include <string>
#include <utility>
#include <vector>

#ifndef NS3_VERSION
#define NS3_VERSION "unknown"
#endif

namespace peer
{
// What stands before and behind the colon of each word, words apart by commas: "0:5,3" is 0 and 5, 3 and nothing.
inline std::vector<std::pair<std::string, std::string>>
Words(const std::string& text)
{
    std::vector<std::pair<std::string, std::string>> all;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');)
    {
        const auto colon = word.find(':');
        all.emplace_back(word.substr(0, colon), colon == std::string::npos ? "" : word.substr(colon + 1));
    }
    return all;
}

// The random streams of a run, and queues in which no packet grows too old.
inline void
Begin(uint32_t run)
{
    ns3::RngSeedManager::SetRun(run);
    ns3::Config::SetDefault("ns3::WifiMacQueue::MaxDelay", ns3::TimeValue(ns3::Seconds(1000)));
}

// IPv4 on all nodes, an address for each device, no queue disciplines.
inline ns3::Ipv4InterfaceContainer
Connect(const ns3::NodeContainer& nodes,
        const ns3::NetDeviceContainer& devices,
        ns3::InternetStackHelper stack = {})
{
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    ns3::Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.0.0");
    const auto interfaces = address.Assign(devices);
    ns3::TrafficControlHelper discs;
    discs.Uninstall(devices);
    return interfaces;
}

// The end of a flow, which counts its bytes: `protocol` is Udp or Tcp.
inline ns3::Ptr<ns3::PacketSink>
Sink(ns3::Ptr<ns3::Node> node, const std::string& protocol, uint16_t port)
{
    ns3::PacketSinkHelper sink("ns3::" + protocol + "SocketFactory",
                               ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
    return ns3::DynamicCast<ns3::PacketSink>(sink.Install(node).Get(0));
}

// The beginning of an answer: version and run.
inline std::ostream&
Answer(uint32_t run)
{
    return std::cout << "{\"ns3_version\": \"" << NS3_VERSION << "\", \"run\": " << run;
}
} // namespace peer
