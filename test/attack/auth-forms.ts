import type { Random } from '../faults/random.ts'

/** A way to present no valid credential. */
export interface AuthForm {
  readonly name: string
  /** Names and values in turn. */
  readonly headers: readonly string[]
  /** Appended to the path. */
  readonly query?: string
}

const WRONG = 'wrong-key-wrong-key-wrong-key-wrong-key'

/** Returns every form, and `changed` forms of the key in which something small is different. */
export function authForms(key: string, random: Random, changed = 8): readonly AuthForm[] {
  return [...fixedForms(key), ...Array.from({ length: changed }, () => changedForm(key, random))]
}

function fixedForms(key: string): AuthForm[] {
  const basic = Buffer.from(`api:${key}`).toString('base64')
  const bearer = `Bearer ${key}`
  return [
    { name: 'none', headers: [] },
    ...[
      ['empty', ''],
      ['a space', ' '],
      ['no token', 'Bearer'],
      ['a wrong key', `Bearer ${WRONG}`],
      ['the key alone', key],
      ['Basic', `Basic ${basic}`],
      ['the key as Basic', `Basic ${key}`],
      ['Digest', `Digest ${key}`],
      ['Token', `Token ${key}`],
      ['the scheme twice', `Bearer ${bearer}`],
      ['two keys', `${bearer} ${key}`],
      ['a list', `${bearer}, ${bearer}`],
      ['a list that begins wrong', `Bearer ${WRONG}, ${bearer}`],
      ['quotes', `Bearer "${key}"`],
      ['a tab', `Bearer\t${key}`],
      ['a colon', `Bearer: ${key}`],
      ['no space', `Bearer${key}`],
      ['the key in upper case', `Bearer ${key.toUpperCase()}`],
      ['the key in base64', `Bearer ${Buffer.from(key).toString('base64')}`],
      ['the key with percent', `Bearer %${key.charCodeAt(0).toString(16)}${key.slice(1)}`],
      ['a beginning', `Bearer ${key.slice(0, -1)}`],
      ['an end', `Bearer ${key.slice(1)}`],
      ['the key and more', `Bearer ${key}x`],
      ['a very long key', `Bearer ${key.repeat(100)}`],
      ['undefined', 'Bearer undefined'],
      ['null', 'Bearer null'],
    ].map(([name = '', value = '']) => ({ name, headers: ['Authorization', value] })),
    {
      name: 'a second header with the key',
      headers: ['Authorization', `Bearer ${WRONG}`, 'Authorization', bearer],
    },
    { name: 'a cookie', headers: ['Cookie', `authorization=${bearer}; api_key=${key}; token=${key}`] },
    { name: 'X-Api-Key', headers: ['X-Api-Key', key] },
    { name: 'Proxy-Authorization', headers: ['Proxy-Authorization', bearer] },
    { name: 'X-Authorization', headers: ['X-Authorization', bearer, 'X-Forwarded-Authorization', bearer] },
    { name: 'a local address in headers', headers: ['X-Forwarded-For', '127.0.0.1', 'X-Real-Ip', '::1'] },
    {
      name: 'another path in headers',
      headers: ['X-Original-Url', '/api/v1/health', 'X-Rewrite-Url', '/docs'],
    },
    { name: 'another method in a header', headers: ['X-Http-Method-Override', 'GET'] },
    {
      name: 'query',
      headers: [],
      query: `?api_key=${key}&access_token=${key}&authorization=Bearer%20${key}`,
    },
  ]
}

function changedForm(key: string, random: Random): AuthForm {
  const at = random.int(0, key.length - 1)
  const other = String.fromCharCode(random.int(0x21, 0x7e))
  const changed = random.pick([
    `${key.slice(0, at)}${key.slice(at + 1)}`,
    `${key.slice(0, at)}${other === key[at] ? '~~' : other}${key.slice(at + 1)}`,
    `${key.slice(0, at)}${other}${key.slice(at)}${other}`,
    `${key.slice(0, at)}${'\u00e9'}${key.slice(at + 1)}`,
  ])
  return { name: `a changed key (${at})`, headers: ['Authorization', `Bearer ${changed}`] }
}
