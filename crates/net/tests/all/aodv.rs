//! AODV, clause by clause: each test names the clause, or the reading where the letter leaves one.

mod errors;
mod links;
mod messages;
mod ns2;
mod ns3;
mod replies;
mod requests;
mod sequence;
