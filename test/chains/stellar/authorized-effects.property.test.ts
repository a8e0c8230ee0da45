import { Address, type xdr } from '@stellar/stellar-sdk'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  creation,
  invocation,
  type TokenTransfer,
  tokenTransfer,
} from '../../../simulators/stellar/transaction/authorization.ts'
import { CONTRACT_CREATION } from '../../../src/chains/effects.ts'
import { authorizedEffects } from '../../../src/chains/stellar/effects/invocation.ts'
import { effectsWith } from '../../support/samples.ts'
import { addressOf, OTHER, SELF } from './build.ts'

const contractOf = (byte: number) => Address.contract(Buffer.alloc(32, byte)).toString()
const VAULT = contractOf(9)

/** A tree of invocations, and what has to be found in it. */
interface Tree {
  readonly node: xdr.SorobanAuthorizedInvocation
  readonly transfers: readonly TokenTransfer[]
  readonly contracts: readonly string[]
}

const transfers = fc.record<TokenTransfer>({
  token: fc.integer({ min: 1, max: 3 }).map(contractOf),
  from: fc.constantFrom(SELF, OTHER),
  to: fc.constantFrom(OTHER, addressOf('third'), VAULT),
  amount: fc.bigInt({ min: 0n, max: 2n ** 127n - 1n }),
})

const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    transfers.map((transfer) => ({
      node: tokenTransfer(transfer),
      transfers: [transfer],
      contracts: [transfer.token],
    })),
    fc
      .record({ byte: fc.integer({ min: 4, max: 6 }), below: fc.array(tie('tree'), { maxLength: 3 }) })
      .map(({ byte, below }) => ({
        node: invocation(
          contractOf(byte),
          'swap',
          [],
          below.map(({ node }) => node),
        ),
        transfers: below.flatMap((one) => one.transfers),
        contracts: [contractOf(byte), ...below.flatMap((one) => one.contracts)],
      })),
  ),
}))

describe('the effects of an authorization', () => {
  test('count every transfer of the tree, and name every contract, receiver and unread call', () => {
    fc.assert(
      fc.property(tree, ({ node, transfers: all, contracts }) => {
        const effects = authorizedEffects(node)
        const sums = new Map<string, bigint>()
        for (const { token, amount } of all) sums.set(token, (sums.get(token) ?? 0n) + amount)
        for (const [token, sum] of sums) if (sum === 0n) sums.delete(token)
        expect(new Map(effects.amounts.map(({ asset, value }) => [asset, value]))).toEqual(sums)
        expect(new Set(effects.receivers)).toEqual(new Set(all.map(({ to }) => to)))
        expect(new Set(effects.contracts)).toEqual(new Set(contracts))
        expect(new Set(effects.unread.map(({ target }) => target))).toEqual(new Set(contracts))
        expect(effects.operations).toEqual(['invoke_contract'])
      }),
      { numRuns: 300 },
    )
  })

  test('have the creation of a contract, wherever it stands', () => {
    expect(authorizedEffects(invocation(VAULT, 'f', [], [creation()]))).toEqual(
      effectsWith({
        operations: ['invoke_contract', 'create_contract'],
        contracts: [VAULT, CONTRACT_CREATION],
        unread: [{ target: VAULT }, { target: CONTRACT_CREATION }],
      }),
    )
  })
})
