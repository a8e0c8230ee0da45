import { authorizeEntry, Contract, type Keypair, Memo, Operation, rpc, type xdr } from '@stellar/stellar-sdk'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  addressOf,
  COUNTER,
  type ContractDesk,
  INVOKED,
  increment,
  openContractDesk,
  person,
} from './contract-desk.ts'
import { codesOf } from './desk.ts'

let desk: ContractDesk
beforeEach(async () => {
  desk = await openContractDesk()
})
afterEach(() => desk.ledger.stop())

describe('authorisation', () => {
  async function signedBy(bob: Keypair, operation: xdr.Operation, source: Keypair, lastLedger = 100) {
    const { simulation } = await desk.simulate(source, operation)
    if (!rpc.Api.isSimulationSuccess(simulation)) throw new Error('The simulation failed.')
    const auth = await Promise.all(
      (simulation.result?.auth ?? []).map((entry) =>
        authorizeEntry(entry, bob, lastLedger, desk.ledger.passphrase),
      ),
    )
    if (operation.body.type !== 'invokeHostFunction') throw new Error('This is no call.')
    return Operation.invokeHostFunction({ func: operation.body.invokeHostFunctionOp.hostFunction, auth })
  }

  test('somebody else agrees by a signature, once', async () => {
    const [alice, bob] = [desk.person(), desk.person()]
    const operation = await signedBy(bob, increment(desk.ledger.contract(COUNTER), bob), alice)
    const first = await desk.prepare(alice, operation)
    expect(await desk.apply(first)).toEqual(INVOKED)
    const repeated = desk.vary(first, alice, {})
    expect(await desk.apply(repeated)).toEqual(['txFailed', 'invokeHostFunctionTrapped'])
  })

  test.each([
    ['the signature of somebody else', 100, true],
    ['a signature that has expired', 0, false],
  ])('%s is none', async (_name, lastLedger, isForged) => {
    const [alice, bob] = [desk.person(), desk.person()]
    const operation = await signedBy(bob, increment(desk.ledger.contract(COUNTER), bob), alice, lastLedger)
    if (isForged && operation.body.type === 'invokeHostFunction') {
      const [entry] = operation.body.invokeHostFunctionOp.auth
      if (entry?.credentials.type === 'sorobanCredentialsAddress') {
        const { signature } = entry.credentials.address
        const map = signature.type === 'scvVec' ? signature.vec?.[0] : undefined
        const fields = map?.type === 'scvMap' ? (map.map ?? []) : []
        const bytes = fields[1]?.val
        if (bytes?.type === 'scvBytes') bytes.bytes.toBytes()[0] = (bytes.bytes.toBytes()[0] ?? 0) ^ 1
      }
    }
    const { simulation } = await desk.simulate(alice, operation)
    expect(simulation).toMatchObject({ error: expect.stringMatching(/ED25519|expired/) })
  })

  test('a call that somebody else has signed for must not have a memo', async () => {
    const [alice, bob] = [desk.person(), desk.person()]
    const operation = await signedBy(bob, increment(desk.ledger.contract(COUNTER), bob), alice)
    const good = await desk.prepare(alice, operation)
    const bad = desk.vary(good, alice, { memo: Memo.text('hello') })
    expect(codesOf((await desk.send(bad)).errorResult)).toEqual(['txSorobanInvalid'])
  })

  test('nor may one that its source alone has agreed to', async () => {
    const alice = desk.person()
    const good = await desk.prepare(alice, increment(desk.ledger.contract(COUNTER), alice))
    const bad = desk.vary(good, alice, { memo: Memo.text('hello') })
    expect(codesOf((await desk.send(bad)).errorResult)).toEqual(['txSorobanInvalid'])
  })

  test('each part of what was agreed to is good for one call', async () => {
    const [alice, bob] = [desk.person(), desk.person()]
    const counter = desk.ledger.contract(COUNTER)
    let times = 1
    const outer = desk.ledger.contract({
      relay(env, who) {
        env.requireAuth(addressOf(who))
        for (let call = 0; who && call < times; call += 1) env.call(counter, 'increment', who)
        return undefined
      },
    })
    const operation = await signedBy(bob, new Contract(outer).call('relay', person(bob)), alice)
    const transaction = await desk.prepare(alice, operation)
    times = 2
    expect(await desk.apply(transaction)).toEqual(['txFailed', 'invokeHostFunctionTrapped'])
  })

  test('a contract that calls another one passes on who agrees to what', async () => {
    const [alice, bob] = [desk.person(), desk.person()]
    const counter = desk.ledger.contract(COUNTER)
    const outer = desk.ledger.contract({
      relay(env, who) {
        env.requireAuth(addressOf(who))
        return who && env.call(counter, 'increment', who)
      },
    })
    const operation = await signedBy(bob, new Contract(outer).call('relay', person(bob)), alice)
    const auth = operation.body.type === 'invokeHostFunction' ? operation.body.invokeHostFunctionOp.auth : []
    expect(auth.map(({ rootInvocation }) => rootInvocation.subInvocations.length)).toEqual([1])
    expect(await desk.run(alice, operation)).toEqual(INVOKED)
  })
})
