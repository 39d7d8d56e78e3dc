import type { HttpRequest } from '@azure/functions';

/** What a request orders from `dev.replay`. */
export function orderOf({ query }: HttpRequest): { readonly rows: number; readonly mix: string } {
  return { rows: Number(query.get('rows')), mix: query.get('mix') ?? 'strings' };
}

/** The server, for drivers that take no connection string. */
export const server = {
  host: '127.0.0.1',
  port: Number(process.env['BENCH_SQL_PORT']),
  user: 'sa',
  password: process.env['BENCH_SQL_PASSWORD'] ?? '',
  database: 'Blogging',
  poolSize: Number(process.env['BENCH_SQL_POOL_SIZE']),
  encrypt: process.env['BENCH_SQL_TLS'] === '1',
};

/** A chunk for each row would be slow for reasons that have nothing to do with the driver. */
export const chunkLength = 32_768;
