/** Rows whose JSON is known without asking the code under test. */

export const soakRowCount = 2_000;

const day = (id: number) => String(1 + (id % 28)).padStart(2, '0');
const amount = (id: number) => `${id % 1_000}.${String(id % 100).padStart(2, '0')}`;
/** Quotes, a tab's escape, and characters of two, three and four bytes. */
const name = (id: number) => `row ${id}: "é" ☃ 𝒳\\ ${'x'.repeat(id % 97)}`;

/** Batches that make and fill dbo.SoakRows. */
export function soakBatches(): string[] {
  const batches = [
    'create table dbo.SoakRows (Id int not null primary key, Name nvarchar(200) not null, Amount decimal(10, 2) not null, Created datetime2(3) null)',
  ];
  const perBatch = 250;
  for (let first = 1; first <= soakRowCount; first += perBatch) {
    const rows = Array.from({ length: Math.min(perBatch, soakRowCount - first + 1) }, (_, index) => {
      const id = first + index;
      const created = id % 9 === 0 ? 'null' : `'2026-11-${day(id)}T10:20:30.123'`;
      return `(${id}, N'${name(id)}', ${amount(id)}, ${created})`;
    });
    batches.push(`insert into dbo.SoakRows (Id, Name, Amount, Created) values ${rows.join(', ')}`);
  }
  return batches;
}

export type BodyFormat = 'json' | 'ndjson';

function rowJson(id: number): string {
  const created = id % 9 === 0 ? 'null' : `"2026-11-${day(id)}T10:20:30.123Z"`;
  return `{"Id":${id},"Name":${JSON.stringify(name(id))},"Amount":${amount(id)},"Created":${created}}`;
}

const rowTexts = Array.from({ length: soakRowCount }, (_, index) => rowJson(index + 1));

/** The whole body of a request for the first `rows` rows. */
export function expectedBody(rows: number, format: BodyFormat): string {
  const texts = rowTexts.slice(0, rows);
  return format === 'json' ? `[${texts.join(',')}]` : texts.map((text) => `${text}\n`).join('');
}
