import { expect, test } from 'vitest';
import { planSql, withEmbeddedPort } from '../../../src/dev/cli/sql-plan.js';

const login = 'User Id=sa;Password=p;Encrypt=false';

test('localhost or 127.0.0.1 with port 14330 means the embedded server, in any spelling', () => {
  for (const server of [
    'Server=localhost,14330',
    'data source = tcp:127.0.0.1,14330',
    'Server=LOCALHOST, 14330',
    'Addr=127.0.0.1,14330',
  ]) {
    expect(planSql({ S: `${server};Database=B;${login}` })).toMatchObject({
      kind: 'embedded',
      setting: 'S',
      user: 'sa',
      password: 'p',
      databases: ['B'],
    });
  }
});

test('every database that the settings name on the embedded server is asked of it, once', () => {
  const one = `Server=localhost,14330;Database=One;${login}`;
  const two = `Server=127.0.0.1,14330;Database=Two;${login}`;
  expect(planSql({ A: one, B: two, C: one })).toMatchObject({ databases: ['One', 'Two'] });
});

test('another host or port is another server, and is named', () => {
  expect(planSql({ S: `Server=db.example.com;${login}` })).toEqual({
    kind: 'other',
    setting: 'S',
    server: 'db.example.com',
  });
  expect(planSql({ S: `Server=localhost,14331;${login}` })).toMatchObject({ server: 'localhost,14331' });
});

test('settings that are no connection strings ask for nothing', () => {
  expect(
    planSql({ A: 'UseDevelopmentStorage=true', B: 'Server=;nonsense', C: undefined, D: 'serverless' }),
  ).toEqual({ kind: 'none' });
});

test('only the settings that mean the embedded server get its real port', () => {
  const settings = {
    Local: `Server=localhost,14330;${login}`,
    Other: `Server=db.example.com,14330;${login}`,
    Password: 'Server=db;Password=x127.0.0.1,14330;User Id=u',
    Plain: '127.0.0.1,14330',
  };
  expect(withEmbeddedPort(settings, 5000)).toEqual({ ...settings, Local: `Server=localhost,5000;${login}` });
});
