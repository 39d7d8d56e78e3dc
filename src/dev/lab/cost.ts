/** What was published for 8 threads: servers that answered so many requests each, and a price. */
const published = { sync: 14, async: 305, serverCost: 12_000, currency: 'BRL' };

/** Servers with blocked threads that are needed for as many answers as one server gives that awaits. */
export function serversNeeded(asyncAnswers: number, syncAnswers: number): number {
  return Math.ceil(asyncAnswers / syncAnswers);
}

export interface CostOptions {
  readonly serverCost: number;
  readonly currency: string;
}

/** Lines that compare, measured here and published. Without a synchronous answer there is nothing to divide by. */
export function costLines(syncAnswers: number, asyncAnswers: number, options: CostOptions): string[] {
  const { serverCost, currency } = options;
  const price = (servers: number) => money(servers * serverCost, currency);
  const publishedPrice = (servers: number) => money(servers * published.serverCost, published.currency);
  const rightServers = serversNeeded(published.async, published.sync);
  const lines: string[] = [];
  if (syncAnswers === 0) {
    lines.push(
      'Measured:   the blocking action gave no answer in this time, so there is no ratio; try a longer --time.',
    );
  } else {
    const servers = serversNeeded(asyncAnswers, syncAnswers);
    lines.push(
      `Measured:   ${asyncAnswers} awaited / ${syncAnswers} blocked = ${ratio(asyncAnswers, syncAnswers)} times the answers.`,
      `            For ${asyncAnswers} answers: ${count(servers)} that block, ${price(servers)}; 1 server that awaits, ${price(1)}.`,
    );
  }
  lines.push(
    `Published:  ${published.async} / ${published.sync} = ${ratio(published.async, published.sync)} times; 14 servers, ${publishedPrice(14)}, against 1, ${publishedPrice(1)}.`,
    `            That is a slip: it took the 14 answers of a server for a number of servers. For ${published.async} answers at ${published.sync} a`,
    `            server it takes ceil(${published.async} / ${published.sync}) = ${rightServers} servers, ${publishedPrice(rightServers)}.`,
  );
  return lines;
}

function count(servers: number): string {
  return `${servers} server${servers === 1 ? '' : 's'}`;
}

function ratio(a: number, b: number): string {
  return (a / b).toFixed(1);
}

function money(amount: number, currency: string): string {
  return `${currency} ${amount.toLocaleString('en-US', { maximumFractionDigits: 2 })}`;
}
