/**
 * Unique names, as a DataTable filled by a data adapter has them: an unnamed column is `Column1`, a repeated name (whatever its letter
 * case) gets the first of 1, 2, ... that makes it unique. The first of the equal names keeps its own.
 */
export function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  const isFirst = names.map((name) => {
    const lower = name.toLowerCase();
    const first = name !== '' && !taken.has(lower);
    if (first) taken.add(lower);
    return first;
  });
  return names.map((name, index) => {
    if (isFirst[index]) return name;
    const base = name === '' ? 'Column' : name;
    for (let suffix = 1; ; suffix++) {
      const candidate = `${base}${suffix}`;
      if (taken.has(candidate.toLowerCase())) continue;
      taken.add(candidate.toLowerCase());
      return candidate;
    }
  });
}
