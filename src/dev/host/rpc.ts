/**
 * The shapes that cross between host and worker, with the names and meaning that they have in Azure: the part of the
 * built-in module `@azure/functions-core` that `@azure/functions` 4.x uses. No package on npm declares it.
 */

export type RpcLogLevel = 'trace' | 'debug' | 'information' | 'warning' | 'error' | 'critical' | 'none';
export type RpcLogCategory = 'user' | 'system' | 'customMetric';

export interface RpcBindingInfo {
  readonly type: string;
  readonly direction: 'in' | 'out' | 'inout';
  readonly [property: string]: unknown;
}

export interface RpcCookie {
  readonly name: string;
  readonly value: string;
  readonly domain?: { readonly value: string };
  readonly path?: { readonly value: string };
  readonly expires?: { readonly value: { readonly seconds: number } };
  readonly secure?: { readonly value: boolean };
  readonly httpOnly?: { readonly value: boolean };
  readonly sameSite?: 'none' | 'lax' | 'strict' | 'explicitNone';
  readonly maxAge?: { readonly value: number };
}

export type RpcNullableStrings = Record<string, { readonly value: string }>;

export interface RpcHttpData {
  readonly method?: string;
  readonly url?: string;
  readonly nullableHeaders?: RpcNullableStrings;
  readonly nullableParams?: RpcNullableStrings;
  readonly nullableQuery?: RpcNullableStrings;
  readonly body?: RpcTypedData;
  readonly statusCode?: string;
  readonly headers?: Record<string, string>;
  readonly cookies?: readonly RpcCookie[];
}

/** One of its properties is set. */
export interface RpcTypedData {
  readonly string?: string;
  readonly json?: string;
  readonly bytes?: Uint8Array;
  readonly int?: number;
  readonly double?: number;
  readonly http?: RpcHttpData;
}

export interface RpcParameterBinding {
  readonly name: string;
  readonly data: RpcTypedData | undefined;
}

export interface RpcTraceContext {
  readonly traceParent: string;
  readonly traceState?: string;
  readonly attributes?: Record<string, string>;
}

export interface RpcInvocationRequest {
  readonly invocationId: string;
  readonly functionId: string;
  readonly inputData: readonly RpcParameterBinding[];
  readonly triggerMetadata: Readonly<Record<string, RpcTypedData>>;
  readonly traceContext: RpcTraceContext;
}

export interface RpcInvocationResponse {
  readonly invocationId: string;
  readonly returnValue?: RpcTypedData | null;
  readonly outputData?: readonly { readonly name: string; readonly data: RpcTypedData }[] | null;
}
