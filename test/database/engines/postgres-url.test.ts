import { describe, expect, test } from 'vitest'
import { readPostgresUrl } from '../../../src/database/engines/postgres/postgres-url.ts'

const serversOf = (url: string) => readPostgresUrl(url).servers

describe('a url of PostgreSQL', () => {
  test.each([
    'postgres://h/d',
    'postgresql://user:p%40ss@h:5433/d?sslmode=verify-full&application_name=a%20b',
    'postgres://user:p,a@ss@[::1]:5432/d',
    'postgres://%2Fvar%2Frun%2Fpostgresql/d',
  ])('with one host stays as it is: %s', (url) => {
    expect(serversOf(url).map((server) => server.url)).toEqual([url])
    expect(readPostgresUrl(url).target).toBe('any')
  })

  test('leads to each of its hosts, with the same user, password, database and parameters', () => {
    const url =
      'postgres://u:p%2C1,2@a:1,[fe80::1]:2,c/d%20b?target_session_attrs=read-write&sslmode=require&options=-c%20x%3D1'
    expect(serversOf(url)).toEqual([
      { name: 'a:1', url: 'postgres://u:p%2C1,2@a:1/d%20b?sslmode=require&options=-c%20x%3D1' },
      {
        name: '[fe80::1]:2',
        url: 'postgres://u:p%2C1,2@[fe80::1]:2/d%20b?sslmode=require&options=-c%20x%3D1',
      },
      { name: 'c', url: 'postgres://u:p%2C1,2@c/d%20b?sslmode=require&options=-c%20x%3D1' },
    ])
  })

  test.each([
    ['postgres://u:p@/d?host=a,b', 'a', 'b', 'postgres://u:p@/d?host=a'],
    ['postgres:///d?host=a,b&port=7', 'a:7', 'b:7', 'postgres:///d?host=a&port=7'],
    ['postgres://u@x/d?port=1,2&host=a,b', 'a:1', 'b:2', 'postgres://u@x/d?host=a&port=1'],
    ['postgres:///d?host=%2Frun%2Fpg,b', '/run/pg', 'b', 'postgres:///d?host=%2Frun%2Fpg'],
  ])('can have its hosts as parameters: %s', (url, first, second, firstUrl) => {
    expect(serversOf(url).map(({ name }) => name)).toEqual([first, second])
    expect(serversOf(url)[0]?.url).toBe(firstUrl)
  })

  test('wants the server that writes, of several, unless it says something else', () => {
    const targetOf = (query: string) => readPostgresUrl(`postgres://a,b/d?${query}`).target
    expect(targetOf('')).toBe('read-write')
    expect(targetOf('target_session_attrs=any')).toBe('any')
    expect(targetOf('target_session_attrs=primary')).toBe('primary')
    expect(readPostgresUrl('postgres://a/d?target_session_attrs=read-write').target).toBe('read-write')
  })

  test('can say where a connection begins, and how long it waits for a server', () => {
    expect(readPostgresUrl('postgres://a,b/d?load_balance_hosts=random&connect_timeout=2')).toMatchObject({
      isRandom: true,
      connectTimeoutMs: 2_000,
    })
    expect(readPostgresUrl('postgres://a,b/d')).toMatchObject({
      isRandom: false,
      connectTimeoutMs: undefined,
    })
  })

  test.each([
    ['mysql://u:secret@a/d', 'must be a url that starts with postgres:// or postgresql://'],
    ['postgres://u:secret@a:99999/d', 'cannot be read: expected postgres://user:password@host:port/database'],
    ['postgres://u:secret@a:1,b:x/d', 'cannot be read'],
    ['postgres://u:secret/1@a/d', 'cannot be read'],
    ['postgres://u:secret@x/d?host=a,b,c&port=1,2', 'has 3 hosts and 2 ports'],
    ['postgres://u:secret@x/d?host=a&port=x', 'has a port that is not a whole number'],
    [
      'postgres://u:secret@a,b/d?target_session_attrs=standby',
      'but the service writes: use read-write or primary',
    ],
    ['postgres://u:secret@a,b/d?target_session_attrs=writer', 'expected one of any, read-write, primary'],
    ['postgres://u:secret@a,b/d?load_balance_hosts=yes', 'expected disable or random'],
    ['postgres://u:secret@a,b/d?connect_timeout=1s', 'not a whole number of seconds'],
  ])('that cannot be used is refused without its password: %s', (url, message) => {
    let error: unknown
    try {
      readPostgresUrl(url)
    } catch (thrown) {
      error = thrown
    }
    expect(String(error)).toContain(message)
    expect(String(error)).not.toContain('secret')
  })
})
