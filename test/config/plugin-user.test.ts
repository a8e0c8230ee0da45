import { describe, expect, test } from 'vitest'
import { readPluginUser } from '../../src/config/plugin-user.ts'

function read(text: string | undefined, mayChange = true) {
  const problems: string[] = []
  const user = readPluginUser({ RELAYER_PLUGINS_USER: text }, problems, () => mayChange)
  return problems.length > 0 ? problems : user
}

describe('RELAYER_PLUGINS_USER', () => {
  test.each([
    [undefined, undefined],
    ['', undefined],
    ['10001', { uid: 10_001, gid: 10_001 }],
    ['10001:20002', { uid: 10_001, gid: 20_002 }],
  ])('%j is %j', (text, user) => {
    expect(read(text)).toEqual(user)
  })

  test.each(['0', '0:5', 'nobody', '-1', '1:2:3', '4294967295', '1 ', ':1'])('%j is refused', (text) => {
    expect(read(text)).toEqual([expect.stringContaining('must be a user id other than 0')])
  })

  test('needs the right to start processes of another user', () => {
    expect(read('10001', false)).toEqual([
      expect.stringContaining('needs Linux and a service with the capabilities'),
    ])
  })
})
