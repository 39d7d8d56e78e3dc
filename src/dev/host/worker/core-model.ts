import type {
  RpcBindingInfo,
  RpcInvocationRequest,
  RpcInvocationResponse,
  RpcLogCategory,
  RpcLogLevel,
} from '../rpc.js';

/** What `@azure/functions` offers to a worker, as far as this worker calls it. */

export type FunctionCallback = (...args: unknown[]) => unknown;

export interface CoreInvocationContext {
  readonly invocationId: string;
  readonly request: RpcInvocationRequest;
  readonly metadata: { readonly name: string; readonly bindings: Readonly<Record<string, RpcBindingInfo>> };
  state: 'preInvocationHooks' | 'postInvocationHooks' | 'invocation' | undefined;
  log(level: RpcLogLevel, category: RpcLogCategory, message: string): void;
}

export interface InvocationModel {
  getArguments(): Promise<{ context: unknown; inputs: unknown[] }>;
  invokeFunction(context: unknown, inputs: unknown[], callback: FunctionCallback): Promise<unknown>;
  getResponse(context: unknown, result: unknown): Promise<RpcInvocationResponse>;
}

export interface ProgrammingModel {
  readonly name: string;
  readonly version: string;
  getInvocationModel(context: CoreInvocationContext): InvocationModel | Promise<InvocationModel>;
  getCapabilities?(capabilities: Record<string, string>): Promise<Record<string, string>>;
}

export interface FunctionMetadata {
  readonly name: string;
  readonly bindings: Readonly<Record<string, RpcBindingInfo>>;
}
