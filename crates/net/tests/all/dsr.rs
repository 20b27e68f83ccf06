//! DSR, clause by clause: each test names the clause, or the reading where the letter leaves one.

mod cache;
mod discovery;
mod maintenance;
mod messages;
mod ns2;
mod replies;
mod routes;
