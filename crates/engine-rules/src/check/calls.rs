//! Functions calling each other: no cycles, bounded depth, and which nobody calls.

use std::collections::{HashMap, HashSet};

use super::Checker;
use crate::limits::{CALL_DEPTH_MAX, DIAGNOSTICS_MAX};

/// Who calls whom, by number.
type Graph = HashMap<u32, Vec<u32>>;

impl Checker {
    pub(super) fn calls(&mut self) {
        let mut graph = Graph::new();
        let mut called = HashSet::new();
        let mut calls: Vec<_> = self.calls.iter().copied().collect();
        calls.sort_unstable();
        for (caller, callee) in calls {
            called.insert(callee);
            if let Some(caller) = caller {
                graph.entry(caller).or_default().push(callee);
            }
        }
        let count = u32::try_from(self.checked.functions.len()).unwrap_or(u32::MAX);
        for id in (0..count).filter(|id| !called.contains(id)) {
            self.at_function(id, |this, span, name| {
                this.warn(span, format!("Unused function: {name}."));
            });
        }
        let order = order(&graph, count);
        self.cycles(&graph, &order, count);
        self.depths(&graph, &order);
    }

    fn at_function(
        &mut self,
        id: u32,
        report: impl FnOnce(&mut Self, crate::position::Span, &str),
    ) {
        let Some(function) = self.checked.functions.get(id as usize) else { return };
        let (span, name) = (function.name_span, std::sync::Arc::clone(&function.name));
        report(self, span, &name);
    }

    fn name(&self, id: u32) -> &str {
        self.checked.functions.get(id as usize).map_or("", |function| &function.name)
    }

    fn cycles(&mut self, graph: &Graph, order: &[u32], count: u32) {
        let ordered: HashSet<_> = order.iter().copied().collect();
        let mut reported: HashSet<u32> = HashSet::new();
        let mut searches = 0;
        for id in (0..count).filter(|id| !ordered.contains(id)) {
            let calls = graph.get(&id).map(Vec::as_slice).unwrap_or_default();
            if calls.contains(&id) {
                self.at_function(id, |this, span, _| {
                    this.error(span, "Recursive call is not allowed.");
                });
                continue;
            }
            searches += 1;
            if reported.contains(&id) || searches > DIAGNOSTICS_MAX {
                continue;
            }
            let Some(cycle) = cycle_of(graph, id) else { continue };
            reported.extend(&cycle);
            let names: Vec<_> = cycle.iter().map(|id| self.name(*id)).collect();
            let text = format!("Detected a call cycle between [{}] functions.", names.join(","));
            self.at_function(id, |this, span, _| this.error(span, text));
        }
    }

    /// The first function from which more calls go down than may; reported where the last one leads.
    fn depths(&mut self, graph: &Graph, order: &[u32]) {
        let mut deepest: HashMap<u32, (usize, Option<u32>)> = HashMap::new();
        for &id in order {
            let calls = graph.get(&id).map(Vec::as_slice).unwrap_or_default();
            let next = calls
                .iter()
                .filter_map(|callee| deepest.get(callee).map(|(depth, _)| (*depth, *callee)))
                .max_by_key(|(depth, _)| *depth);
            deepest.insert(id, (1 + next.map_or(0, |(depth, _)| depth), next.map(|(_, id)| id)));
        }
        let depth_max = CALL_DEPTH_MAX + 1;
        let mut roots: Vec<_> =
            deepest.iter().filter(|(_, (depth, _))| *depth > depth_max).collect();
        roots.sort_unstable();
        let Some((root, _)) = roots.first().map(|(root, depth)| (**root, depth)) else { return };
        let mut stack = vec![self.name(root)];
        let mut at = root;
        while let Some((_, Some(next))) = deepest.get(&at) {
            at = *next;
            if stack.len() == depth_max {
                break;
            }
            stack.push(self.name(at));
        }
        let text = format!(
            "Maximum allowed call depth of {CALL_DEPTH_MAX} is reached for [{}] call stack.",
            stack.join("->")
        );
        self.at_function(at, |this, span, _| this.error(span, text));
    }
}

/// The functions, each behind all it calls; those on a cycle, or that lead to one, are left out.
fn order(graph: &Graph, count: u32) -> Vec<u32> {
    let mut callers: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut open: HashMap<u32, usize> = HashMap::new();
    for (caller, callees) in graph {
        open.insert(*caller, callees.len());
        for callee in callees {
            callers.entry(*callee).or_default().push(*caller);
        }
    }
    let mut order: Vec<u32> = (0..count).filter(|id| !open.contains_key(id)).collect();
    let mut at = 0;
    while let Some(&id) = order.get(at) {
        at += 1;
        for caller in callers.get(&id).map(Vec::as_slice).unwrap_or_default() {
            let Some(left) = open.get_mut(caller) else { continue };
            *left -= 1;
            if *left == 0 {
                order.push(*caller);
            }
        }
    }
    order
}

/// The functions of a cycle through one, starting with it.
fn cycle_of(graph: &Graph, start: u32) -> Option<Vec<u32>> {
    let mut came_from: HashMap<u32, u32> = HashMap::new();
    let mut open = vec![start];
    while let Some(id) = open.pop() {
        for &callee in graph.get(&id).map(Vec::as_slice).unwrap_or_default() {
            if callee == start {
                let mut cycle = vec![id];
                let mut at = id;
                while at != start
                    && let Some(&before) = came_from.get(&at)
                {
                    cycle.push(before);
                    at = before;
                }
                cycle.reverse();
                return Some(cycle);
            }
            if let std::collections::hash_map::Entry::Vacant(entry) = came_from.entry(callee) {
                entry.insert(id);
                open.push(callee);
            }
        }
    }
    None
}
