import { describe, expect, test } from 'vitest'
import { goodFile, load, problemsOf } from './fixture.ts'

const NETWORKS = {
  evm: { type: 'evm', network: 'mine', chain_id: 5, symbol: 'X', is_testnet: true, rpc_urls: ['https://s'] },
  solana: { type: 'solana', network: 'mine', is_testnet: true, rpc_urls: ['https://s'] },
  stellar: { type: 'stellar', network: 'mine', passphrase: 'p', is_testnet: true, rpc_urls: ['https://s'] },
} as const

const TYPES = Object.keys(NETWORKS) as (keyof typeof NETWORKS)[]

/** A file whose only relayer has this policy. */
function fileWith(type: keyof typeof NETWORKS, allowed_rpc_methods: unknown) {
  const relayer = { id: 'one', name: 'One', network: 'mine', network_type: type, signer_id: 'dev' }
  const policies = { allowed_rpc_methods }
  return { ...goodFile(), relayers: [{ ...relayer, policies }], networks: [NETWORKS[type]] }
}

describe.each(TYPES)('allowed_rpc_methods of a relayer on %s', (type) => {
  test.each([[['eth_call', 'getHealth']], [[]]])('%j is kept', (methods) => {
    const { relayers } = load({ file: fileWith(type, methods) })
    expect(relayers[0]?.policies.allowedRpcMethods).toEqual(methods)
  })

  test('absent is not the same as empty', () => {
    const { relayers } = load({ file: fileWith(type, undefined) })
    expect(relayers[0]?.policies).not.toHaveProperty('allowedRpcMethods')
  })

  test.each([[['a b']], [['']], [[1]], ['eth_call']])('%j stops the start', (methods) => {
    expect(problemsOf({ file: fileWith(type, methods) }).join()).toContain('allowed_rpc_methods')
  })
})
