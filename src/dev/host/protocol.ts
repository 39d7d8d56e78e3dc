import type { LoopSnapshot } from './loop-monitor.js';
import type {
  RpcBindingInfo,
  RpcInvocationRequest,
  RpcLogCategory,
  RpcLogLevel,
  RpcTypedData,
} from './rpc.js';

/**
 * Messages over the IPC channel between host and worker. Each side sends arrays of them: what one turn of the event
 * loop produces goes in one write, which under load is most of the cost of the channel.
 */
export type HostMessage =
  | {
      readonly type: 'start';
      readonly appDir: string;
      /** Absolute, in loading order. */
      readonly entryFiles: readonly string[];
      readonly hostVersion: string;
      /** What requests to the worker's stream proxy must carry in `tokenHeader`. */
      readonly token: string;
    }
  | { readonly type: 'invoke'; readonly request: RpcInvocationRequest }
  /** Asks for the state of the worker's event loop. */
  | { readonly type: 'eventLoop' }
  | { readonly type: 'terminate' };

export interface RegisteredFunction {
  readonly name: string;
  readonly bindings: Readonly<Record<string, RpcBindingInfo>>;
  /** The entry file that registered it. */
  readonly file: string;
}

export interface InvocationFailure {
  /** The error's own message. */
  readonly message: string;
  /** The first frame in a file of the app, `name (file:line:column)`. */
  readonly at: string | undefined;
  readonly stack: string | undefined;
}

export type WorkerMessage =
  | {
      readonly type: 'started';
      readonly functions: readonly RegisteredFunction[];
      /** The port on 127.0.0.1 of the library's stream proxy; undefined when the app has not switched streaming on. */
      readonly proxyPort: number | undefined;
      readonly model: string;
    }
  | {
      readonly type: 'startFailed';
      readonly reason: 'entry' | 'model' | 'hook' | 'proxy';
      readonly message: string;
      readonly file: string | undefined;
      readonly stack: string | undefined;
    }
  | {
      readonly type: 'result';
      readonly id: string;
      readonly failure: InvocationFailure | undefined;
      /** With typed data only: what the handler gave. Absent for no answer at all, which is a 204. */
      readonly http: RpcTypedData | undefined;
    }
  | {
      readonly type: 'log';
      readonly level: RpcLogLevel;
      readonly category: RpcLogCategory;
      readonly message: string;
      readonly functionName: string | undefined;
      readonly invocationId: string | undefined;
    }
  | { readonly type: 'eventLoop'; readonly snapshot: LoopSnapshot | null }
  | { readonly type: 'terminated' };

/** Carried by requests from the host to the worker's stream proxy. */
export const tokenHeader = 'x-host-token';
export const invocationIdHeader = 'x-ms-invocation-id';
/** What the host reports as its version; streaming and log hooks need 4.28 and 4.34. */
export const hostVersion = '4.1040.0';
