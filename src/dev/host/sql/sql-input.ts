import type { RpcTypedData } from '../rpc.js';

/** A `sql` input binding of a function, ready to run. */
export interface SqlInput {
  /** The binding's name, under which the library finds the data. */
  readonly name: string;
  /** Runs the command and gives its rows as the extension does. */
  read(data: BindingData, invocationId: string): Promise<RpcTypedData>;
}

/** What binding expressions see of a request. Names are found whatever their case. */
export interface BindingData {
  readonly route: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}
