import type { EngineSession, Login, RequestContext, SqlEngine } from '../sql-engine.js';
import { checkFaultRule, type FaultMoment, type FaultRule, type FaultState } from './fault-rules.js';
import { sinkWithFault, strike } from './faulty-sink.js';

/**
 * What a rule without a text spares: the settings that drivers send when they connect, and the procedures by which
 * faults are taken back.
 */
const spared = /^\s*set\s|\bdev\]?\.\[?fault_/i;

/** Rules in the order of their making; the first that matches strikes. Change it at any time. */
export class Faults {
  readonly #states: FaultState[] = [];
  /** 0 to 1; for tests that want the same every time. */
  readonly #random: () => number;
  #lastId = 0;
  sessions = 0;

  constructor(rules: readonly FaultRule[] = [], random: () => number = Math.random) {
    this.#random = random;
    for (const rule of rules) this.add(rule);
  }

  /** Returns the rule's id. Throws a FaultRuleError. */
  add(value: unknown): number {
    const rule = checkFaultRule(value);
    this.#lastId++;
    this.#states.push({ id: this.#lastId, rule, left: rule.times ?? Number.POSITIVE_INFINITY });
    return this.#lastId;
  }

  /** Removes one rule, or all; tells how many. What has already struck stays as it is. */
  clear(id?: number): number {
    const before = this.#states.length;
    const kept = id === undefined ? [] : this.#states.filter((state) => state.id !== id);
    this.#states.splice(0, before, ...kept);
    return before - kept.length;
  }

  list(): readonly Readonly<FaultState>[] {
    return this.#states;
  }

  /** The rule that matches; whoever lets it strike counts down its `left`. */
  find(at: FaultMoment, application: string, sql = ''): FaultState | undefined {
    const lower = sql.toLowerCase();
    return this.#states.find((state) => {
      const { rule, left } = state;
      if (rule.at !== at || left <= 0) return false;
      if (rule.application !== undefined && rule.application !== application) return false;
      if (rule.sql === undefined ? spared.test(sql) : !lower.includes(rule.sql.toLowerCase())) return false;
      if (rule.action === 'sessionLimit' && this.sessions < rule.sessions!) return false;
      if (rule.action === 'pause') {
        state.since ??= performance.now();
        if (performance.now() - state.since >= rule.delayMs!) return false;
      }
      return rule.probability === undefined || this.#random() < rule.probability;
    });
  }

  /** The engine with these faults. */
  wrap(engine: SqlEngine): SqlEngine {
    return {
      login: async (login) => {
        const state = this.find('login', login.applicationName);
        if (state) await strike(state);
        return this.#session(await engine.login(login), login);
      },
      close: () => engine.close(),
    };
  }

  #session(inner: EngineSession, { applicationName }: Login): EngineSession {
    this.sessions++;
    const run = async (
      sql: string,
      context: RequestContext,
      work: (context: RequestContext) => Promise<void>,
    ): Promise<void> => {
      const start = this.find('start', applicationName, sql);
      if (start && !(await strike(start, context))) return;
      const rows = this.find('rows', applicationName, sql);
      if (!rows) return work(context);
      const faulty = sinkWithFault(rows, context);
      await work(faulty.context);
      await faulty.ended();
    };
    return {
      id: inner.id,
      get database() {
        return inner.database;
      },
      batch: (sql, context) => run(sql, context, (faulty) => inner.batch(sql, faulty)),
      execute: (sql, declarations, parameters, context) =>
        run(sql, context, (faulty) => inner.execute(sql, declarations, parameters, faulty)),
      procedure: (name, parameters, context) =>
        run(name, context, (faulty) => inner.procedure(name, parameters, faulty)),
      transaction: (...request) => inner.transaction(...request),
      reset: (keepTransaction) => inner.reset(keepTransaction),
      close: () => {
        this.sessions--;
        inner.close();
      },
    };
  }
}
