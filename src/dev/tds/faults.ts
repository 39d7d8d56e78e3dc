import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineSession, Login, Parameter, RequestContext, SqlEngine } from './engine.js';
import { type Armed, checkFaultRule, type FaultMoment, type FaultRule, faultMessage } from './fault-rules.js';
import { FaultySink, strike } from './faulty-sink.js';

/**
 * What a rule without a text spares: the settings that drivers send when they connect, and the procedures by which
 * faults are taken back.
 */
const spared = /^\s*set\s|\bdev\]?\.\[?fault_/i;

export interface FaultState {
  readonly id: number;
  readonly rule: FaultRule;
  /** How often it will still strike; absent for always. */
  readonly left?: number;
}

/** Rules in the order of their making; the first that matches strikes. Change it at any time. */
export class Faults {
  readonly #armed: Armed[] = [];
  #lastId = 0;
  /** 0 to 1; for tests that want the same every time. */
  readonly #random: () => number;
  sessions = 0;

  constructor(rules: readonly FaultRule[] = [], random: () => number = Math.random) {
    this.#random = random;
    for (const rule of rules) this.add(rule);
  }

  /** Returns the rule's id. Throws a FaultRuleError. */
  add(rule: unknown): number {
    const checked = checkFaultRule(rule);
    this.#lastId++;
    this.#armed.push({
      id: this.#lastId,
      rule: checked,
      left: checked.times ?? Number.POSITIVE_INFINITY,
      since: undefined,
    });
    return this.#lastId;
  }

  /** Removes one rule, or all; tells how many. What has already struck stays as it is. */
  clear(id?: number): number {
    const before = this.#armed.length;
    const kept = id === undefined ? [] : this.#armed.filter((armed) => armed.id !== id);
    this.#armed.splice(0, before, ...kept);
    return before - kept.length;
  }

  list(): FaultState[] {
    return this.#armed.map(({ id, rule, left }) => ({ id, rule, ...(Number.isFinite(left) && { left }) }));
  }

  /** The rule that strikes at this moment; it counts as one of its times. */
  strike(at: FaultMoment, application: string, sql = ''): FaultRule | undefined {
    const armed = this.find(at, application, sql);
    if (armed) armed.left--;
    return armed?.rule;
  }

  /** The rule that matches; whoever lets it strike counts down its `left`. */
  find(at: FaultMoment, application: string, sql = ''): Armed | undefined {
    const lower = sql.toLowerCase();
    for (const armed of this.#armed) {
      const { rule } = armed;
      if (rule.at !== at || armed.left <= 0) continue;
      if (rule.application !== undefined && rule.application !== application) continue;
      if (rule.sql === undefined ? spared.test(sql) : !lower.includes(rule.sql.toLowerCase())) continue;
      if (rule.action === 'sessionLimit' && this.sessions < rule.sessions!) continue;
      if (rule.action === 'pause') {
        armed.since ??= performance.now();
        if (performance.now() - armed.since >= rule.delayMs!) continue;
      }
      if (rule.probability !== undefined && this.#random() >= rule.probability) continue;
      return armed;
    }
    return undefined;
  }

  /** The engine with these faults. */
  wrap(engine: SqlEngine): SqlEngine {
    return new FaultyEngine(engine, this);
  }
}

class FaultyEngine implements SqlEngine {
  readonly #inner: SqlEngine;
  readonly #faults: Faults;

  constructor(inner: SqlEngine, faults: Faults) {
    this.#inner = inner;
    this.#faults = faults;
  }

  async login(login: Login): Promise<EngineSession> {
    const rule = this.#faults.strike('login', login.applicationName);
    if (rule) await this.#atLogin(rule, login);
    const session = await this.#inner.login(login);
    this.#faults.sessions++;
    return new FaultySession(session, this.#faults, login.applicationName);
  }

  async #atLogin(rule: FaultRule, login: Login): Promise<void> {
    const refuse = (fault: Parameters<typeof faultMessage>[0]): never => {
      throw { ...faultMessage(fault), loginRefusal: true };
    };
    switch (rule.action) {
      case 'error':
        return refuse(rule);
      case 'sessionLimit':
        return refuse({ ...rule, number: 10928 });
      case 'pause':
        return refuse({ ...rule, number: 40613 });
      case 'delay':
        await sleep(rule.delayMs);
        return;
      case 'reset':
        login.reset?.();
        return;
      case 'silence':
        return new Promise(() => {});
    }
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}

class FaultySession implements EngineSession {
  readonly #inner: EngineSession;
  readonly #faults: Faults;
  readonly #application: string;

  constructor(inner: EngineSession, faults: Faults, application: string) {
    this.#inner = inner;
    this.#faults = faults;
    this.#application = application;
  }

  get id(): number {
    return this.#inner.id;
  }

  get database(): string {
    return this.#inner.database;
  }

  batch(sql: string, context: RequestContext): Promise<void> {
    return this.#run(sql, context, (faulty) => this.#inner.batch(sql, faulty));
  }

  execute(
    sql: string,
    declarations: string,
    parameters: readonly Parameter[],
    context: RequestContext,
  ): Promise<void> {
    return this.#run(sql, context, (faulty) => this.#inner.execute(sql, declarations, parameters, faulty));
  }

  procedure(name: string, parameters: readonly Parameter[], context: RequestContext): Promise<void> {
    return this.#run(name, context, (faulty) => this.#inner.procedure(name, parameters, faulty));
  }

  transaction(...request: Parameters<EngineSession['transaction']>): Promise<void> {
    return this.#inner.transaction(...request);
  }

  reset(keepTransaction?: boolean): Promise<void> {
    return this.#inner.reset(keepTransaction);
  }

  close(): void {
    this.#faults.sessions--;
    this.#inner.close();
  }

  async #run(sql: string, context: RequestContext, work: (context: RequestContext) => Promise<void>) {
    const { response, signal } = context;
    const start = this.#faults.strike('start', this.#application, sql);
    if (start && (await strike(start, response, signal)) === 'stop') return;
    const rows = this.#faults.find('rows', this.#application, sql);
    if (!rows) return work(context);
    const sink = new FaultySink(response, rows, signal);
    await work({ response: sink, signal: AbortSignal.any([signal, sink.signal]) });
    await sink.ended;
  }
}
