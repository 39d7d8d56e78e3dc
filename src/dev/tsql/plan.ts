import { type Codec, codecOf } from './codec.js';
import type { SqlValue } from './contract.js';
import { type Compiled, compile, inputsOf, isRowFree, type Node } from './node.js';
import type { Runtime } from './runtime.js';
import type { Callback } from './sqlite.js';
import { bit } from './types.js';

interface PlanParameter {
  readonly codec: Codec;
  readonly value: (runtime: Runtime) => SqlValue;
}

/** Collects what the SQLite text of one statement refers to: parameters and callbacks, both by number. */
export class Plan {
  readonly parameters: PlanParameter[] = [];
  readonly #callbacks: { inputs: Codec[]; output: Codec; run: Compiled }[] = [];
  readonly #numbers = new Map<Node, string>();
  #aliases = 0;

  alias(prefix: string): string {
    return `${prefix}${++this.#aliases}`;
  }

  /** SQLite text for the stored form of the value; a condition is 1, 0 or NULL. */
  sqlOf(node: Node): string {
    if (node.k === 'input') return node.sql;
    const known = this.#numbers.get(node);
    if (known) return known;
    const sql = this.#emit(node);
    this.#numbers.set(node, sql);
    return sql;
  }

  #emit(node: Node): string {
    if (isRowFree(node)) {
      const run = compile(node, new Map());
      return this.parameter(codecOf(node.type), (runtime) => run([], runtime));
    }
    if (node.k === 'call' && node.native) return node.native(node.args.map((arg) => this.sqlOf(arg)));
    if (node.k === 'logic') {
      const args = node.args.map((arg) => this.sqlOf(arg));
      return node.op === 'NOT' ? `(NOT ${args[0]})` : `(${args[0]} ${node.op} ${args[1]})`;
    }
    const inputs = [...inputsOf(node).values()];
    const slots = new Map(inputs.map((input, i) => [input.sql, i]));
    return this.callback(
      inputs.map((input) => codecOf(input.type)),
      codecOf(node.type),
      compile(node, slots),
      inputs.map((input) => input.sql),
    );
  }

  parameter(codec: Codec, value: PlanParameter['value']): string {
    return `?${this.parameters.push({ codec, value })}`;
  }

  callback(inputs: Codec[], output: Codec, run: Compiled, args: readonly string[]): string {
    const index = this.#callbacks.push({ inputs, output, run }) - 1;
    return `js(${[index, ...args].join(', ')})`;
  }

  /** A value that raises when it is evaluated. */
  failure(raise: () => never): string {
    return this.callback([], codecOf(bit), raise, []);
  }

  callbacksFor(runtime: Runtime): Callback[] {
    return this.#callbacks.map(({ inputs, output, run }) => ({
      inputs,
      output,
      run: (row) => run(row, runtime),
    }));
  }
}
