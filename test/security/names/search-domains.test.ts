import { expect, test } from 'vitest'
import { fullNames, parseSearchDomains } from '../../../src/security/name-resolver.ts'

test('the last search list counts, without its dots', () => {
  const text =
    'nameserver 10.0.0.10\ndomain old.example\nsearch shop.svc.cluster.local cluster.local.\noptions ndots:5\n'
  expect(parseSearchDomains(text)).toEqual(['shop.svc.cluster.local', 'cluster.local'])
  expect(parseSearchDomains('nameserver 10.0.0.10\n')).toEqual([])
})

test.each([
  ['hooks', ['hooks.a.example', 'hooks.b.example', 'hooks']],
  ['hooks.shop', ['hooks.shop', 'hooks.shop.a.example', 'hooks.shop.b.example']],
  ['hooks.example.', ['hooks.example']],
])('%s can mean %j', (host, names) => {
  expect(fullNames(host, ['a.example', 'b.example'])).toEqual(names)
})
