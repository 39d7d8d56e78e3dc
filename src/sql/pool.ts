import { Pool as TarnPool } from 'tarn';
import { SqlConnection } from './connection.js';
import type { ConnectionOptions } from './connection-string/parse.js';
import { SqlStreamError } from './errors.js';
import type { Lifetime } from './lifetime.js';
import { retryAfterMs } from './server-errors.js';
import type { PoolStats } from './types.js';

/** Connects at the same time. More would not be faster, and each that a released connection makes needless costs CPU on both sides. */
const connectsAtOnce = 16;
/** tarn's own timers stay out of the way: ours name their phase. */
const never = 2_147_483_647;
const reapIntervalMs = 5_000;

export interface PoolSettings {
  readonly max: number;
  readonly min: number;
  readonly idleTimeoutMs: number;
  readonly connectMs: number;
}

export interface AcquireLimits {
  readonly acquireMs: number;
  readonly connectMs: number;
  readonly lifetime: Lifetime;
}

/** Not an error of anyone: a connection was released while this connect waited its turn. */
class NotNeeded extends Error {}

export class SqlPool {
  readonly name: string;
  readonly #options: ConnectionOptions;
  readonly #settings: PoolSettings;
  readonly #pool: TarnPool<SqlConnection>;
  readonly #turns: (() => void)[] = [];
  #connecting = 0;
  #closed = false;

  constructor(options: ConnectionOptions, settings: PoolSettings) {
    this.#options = options;
    this.#settings = settings;
    const { server, port, instanceName, database } = options;
    this.name = `${server}${instanceName === undefined ? `,${port ?? 1433}` : `\\${instanceName}`}/${database ?? ''}`;
    this.#pool = new TarnPool<SqlConnection>({
      create: () => this.#connect(),
      destroy: (connection) => connection.destroy(),
      // tarn awaits it; its types say boolean.
      validate: (connection) => connection.validate(options.lifetimeMs) as unknown as boolean,
      min: settings.min,
      max: settings.max,
      acquireTimeoutMillis: never,
      createTimeoutMillis: never,
      idleTimeoutMillis: settings.idleTimeoutMs,
      reapIntervalMillis: reapIntervalMs,
      propagateCreateError: true,
    });
  }

  get settings(): PoolSettings {
    return this.#settings;
  }

  get stats(): PoolStats {
    return {
      name: this.name,
      used: this.#pool.numUsed(),
      free: this.#pool.numFree(),
      pending: this.#pool.numPendingAcquires(),
      connecting: this.#connecting,
      max: this.#settings.max,
    };
  }

  async #connect(): Promise<SqlConnection> {
    if (this.#connecting >= connectsAtOnce) await new Promise<void>((resolve) => this.#turns.push(resolve));
    try {
      if (this.#connecting >= this.#pool.numPendingAcquires()) throw new NotNeeded();
      this.#connecting++;
      try {
        const connection = await SqlConnection.open(this.#options, this.#settings.connectMs);
        if (this.#closed) connection.destroy();
        return connection;
      } finally {
        this.#connecting--;
      }
    } finally {
      this.#turns.shift()?.();
    }
  }

  /**
   * A connection of one's own, until `release`.
   *
   * @throws SqlStreamError `EPoolExhausted`, `EAborted`, `EClosed`, and those of `SqlConnection.open`
   */
  async acquire(limits: AcquireLimits): Promise<SqlConnection> {
    for (;;) {
      if (this.#closed) throw closedError();
      try {
        return await this.#acquireOnce(limits);
      } catch (error) {
        if (!(error instanceof NotNeeded)) throw error;
      }
    }
  }

  async #acquireOnce({ acquireMs, connectMs, lifetime }: AcquireLimits): Promise<SqlConnection> {
    const pending = this.#pool.acquire();
    let settled = false;
    let stopped = false;
    let timer: NodeJS.Timeout | undefined;
    return new Promise<SqlConnection>((resolve, reject) => {
      const stop = (error: SqlStreamError) => {
        stopped = true;
        reject(error);
        // tarn destroys a connection whose borrower leaves while it is being validated: let that end first.
        setImmediate(() => pending.reject(error));
      };
      const settle = () => {
        settled = true;
        clearTimeout(timer);
      };
      pending.promise.then(
        (connection) => {
          settle();
          if (stopped) this.release(connection);
          else resolve(connection);
        },
        (error: unknown) => {
          settle();
          reject(this.#closed ? closedError() : error);
        },
      );
      lifetime.onStop = stop;
      if (acquireMs <= 0) return;
      timer = setTimeout(() => {
        if (this.#pool.numUsed() >= this.#settings.max) return stop(this.#exhausted(acquireMs));
        // There is room in the pool: it is the connect that takes its time, and that has a limit of its own.
        if (connectMs <= 0 || settled) return;
        timer = setTimeout(
          () => stop(slowConnect(this.name, connectMs)),
          Math.max(0, connectMs - acquireMs) + 500,
        );
      }, acquireMs);
    });
  }

  #exhausted(acquireMs: number): SqlStreamError {
    const { used, free, pending, max } = this.stats;
    return new SqlStreamError(
      'EPoolExhausted',
      `No connection became free within ${acquireMs} ms: ${used} of ${max} are in use, ${free} free, ${pending} requests wait. ` +
        'Raise Max Pool Size in the connection string, or make the commands shorter.',
      { phase: 'acquire', retryAfterMs: retryAfterMs.exhausted },
    );
  }

  release(connection: SqlConnection): void {
    connection.settle();
    if (!this.#options.pooling) connection.broken = true;
    this.#pool.release(connection);
    // It is not fit for reuse: validation, which destroys it, comes with the next borrower only, and its socket should not wait for that.
    if (connection.broken) connection.destroy();
  }

  /** Resolves when all connections are closed. Requests that run must have ended before. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const turn of this.#turns.splice(0)) turn();
    await this.#pool.destroy();
  }
}

export function closedError(): SqlStreamError {
  return new SqlStreamError('EClosed', 'The connections to SQL Server are closed: the app is stopping.', {
    phase: 'acquire',
    retryAfterMs: retryAfterMs.closed,
  });
}

function slowConnect(name: string, ms: number): SqlStreamError {
  return new SqlStreamError('EConnectTimeout', `No connection to ${name} was made within ${ms} ms.`, {
    phase: 'connect',
  });
}
