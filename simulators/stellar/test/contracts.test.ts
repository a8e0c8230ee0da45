import {
  Address,
  authorizeEntry,
  Contract,
  type Keypair,
  Memo,
  nativeToScVal,
  Operation,
  rpc,
  SorobanDataBuilder,
  scValToNative,
  type TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { nonRefundableFee } from '../soroban/fees.ts'
import {
  addressOf,
  COUNTER,
  type ContractDesk,
  dataOf,
  INVOKED,
  increment,
  openContractDesk,
  person,
} from './contract-desk.ts'
import { codesOf, hashOf, XLM } from './desk.ts'

describe('contract calls', () => {
  let desk: ContractDesk
  beforeEach(async () => {
    desk = await openContractDesk()
  })
  afterEach(() => desk.ledger.stop())

  describe('a call', () => {
    test('runs, returns, tells its events, and gives back what was not used', async () => {
      const alice = desk.person()
      const contract = desk.ledger.contract(COUNTER)
      const transaction = await desk.prepare(alice, increment(contract, alice))
      expect(await desk.apply(transaction)).toEqual(INVOKED)
      const found = await desk.look(transaction)
      if (found.status !== 'SUCCESS') throw new Error(found.status)
      expect(found.returnValue && scValToNative(found.returnValue)).toBe(1)
      expect(found.events.contractEventsXdr.flat()).toHaveLength(1)
      const charged = found.resultXdr.feeCharged
      expect(charged).toBeLessThan(BigInt(transaction.fee))
      expect(desk.ledger.account(alice.publicKey())?.balance).toBe(1000n * XLM - charged)
    })

    test('is found by its events: by ledger, contract and topics', async () => {
      const [alice, bob] = [desk.person(), desk.person()]
      const { nativeContract } = desk.ledger
      const amount = nativeToScVal(7n, { type: 'i128' })
      const transfer = new Contract(nativeContract).call('transfer', person(alice), person(bob), amount)
      const paid = await desk.prepare(alice, transfer)
      expect(await desk.apply(paid)).toEqual(INVOKED)
      const other = await desk.prepare(bob, increment(desk.ledger.contract(COUNTER), bob))
      expect(await desk.apply(other)).toEqual(INVOKED)
      const search = (topics: string[][], contractIds = [nativeContract]) =>
        desk.client.getEvents({ startLedger: 1, filters: [{ type: 'contract', contractIds, topics }] })
      const [from, to] = [alice, bob].map((who) => person(who).toXdr('base64'))
      const name = xdr.ScVal.scvSymbol('transfer').toXdr('base64')
      const found = await search([[name, from ?? '', to ?? '', '**']])
      expect(found.events).toMatchObject([
        { txHash: hashOf(paid), ledger: 2, inSuccessfulContractCall: true },
      ])
      expect((await search([[name, '*', to ?? '', '*']])).events).toHaveLength(1)
      expect((await search([[name, '*', to ?? '']])).events).toEqual([])
      expect((await search([[name, to ?? '', from ?? '', '**']])).events).toEqual([])
      expect((await desk.client.getEvents({ startLedger: 1, filters: [] })).events).toHaveLength(2)
    })

    test('that fails is told by its simulation, and costs its fee when it is sent', async () => {
      const alice = desk.person()
      const contract = desk.ledger.contract(COUNTER)
      const { simulation } = await desk.simulate(alice, new Contract(contract).call('fail'))
      expect(simulation).toMatchObject({ error: expect.stringContaining('as asked') })
      const good = await desk.prepare(alice, increment(contract, alice))
      const failing = desk.vary(good, alice, { operations: [new Contract(contract).call('fail')] })
      expect(await desk.apply(failing)).toEqual(['txFailed', 'invokeHostFunctionTrapped'])
    })

    test('of another kind is told before the ledger is looked at', async () => {
      const { simulation } = await desk.simulate(desk.person(), Operation.bumpSequence({ bumpTo: '0' }))
      expect(simulation).toMatchObject({
        error: 'transaction contains unsupported operation type: OperationTypeBumpSequence',
        latestLedger: 0,
      })
    })

    test('of nothing that is there is told by its simulation', async () => {
      const nowhere = Address.contract(Buffer.alloc(32, 7)).toString()
      const { simulation } = await desk.simulate(desk.person(), increment(nowhere, desk.person()))
      expect(simulation).toMatchObject({ error: expect.stringContaining('MissingValue') })
    })
  })

  describe('what is declared', () => {
    test.each([
      ['fewer instructions', (data: SorobanDataBuilder) => data.setResources(1000, 1000, 1000)],
      [
        'fewer bytes to write',
        (data: SorobanDataBuilder) => data.setResources(10_000_000, 1000, 1).setResourceFee(1_000_000n),
      ],
    ])('%s than are used end the call', async (_name, change) => {
      const alice = desk.person()
      const good = await desk.prepare(alice, increment(desk.ledger.contract(COUNTER), alice))
      expect(await desk.apply(desk.vary(good, alice, { data: change }))).toEqual([
        'txFailed',
        'invokeHostFunctionResourceLimitExceeded',
      ])
    })

    test('an entry that is not in the footprint cannot be touched', async () => {
      const alice = desk.person()
      const good = await desk.prepare(alice, increment(desk.ledger.contract(COUNTER), alice))
      const bad = desk.vary(good, alice, { data: (data) => data.setReadWrite([]) })
      expect(await desk.apply(bad)).toEqual(['txFailed', 'invokeHostFunctionTrapped'])
    })

    test.each([
      [
        'a resource fee that does not cover the resources',
        (data: SorobanDataBuilder) => data.setResourceFee(100n),
      ],
      [
        'more instructions than there are',
        (data: SorobanDataBuilder) => data.setResources(200_000_000, 0, 0),
      ],
    ])('%s is refused immediately', async (_name, change) => {
      const alice = desk.person()
      const good = await desk.prepare(alice, increment(desk.ledger.contract(COUNTER), alice))
      const sent = await desk.send(desk.vary(good, alice, { data: change }))
      expect([sent.status, ...codesOf(sent.errorResult)]).toEqual(['ERROR', 'txSorobanInvalid'])
    })

    test('an entry that is declared as read cannot be written', async () => {
      const alice = desk.person()
      const good = await desk.prepare(alice, increment(desk.ledger.contract(COUNTER), alice))
      const { readOnly, readWrite } = dataOf(good).resources.footprint
      const swapped = (data: SorobanDataBuilder) => data.setFootprint([...readOnly, ...readWrite], [])
      const bad = desk.vary(good, alice, { data: swapped })
      expect(await desk.apply(bad)).toEqual(['txFailed', 'invokeHostFunctionTrapped'])
    })

    test('a call that leaves nothing for the rent of a new entry fails', async () => {
      const alice = desk.person()
      const silent = desk.ledger.contract({
        keep(env) {
          env.set(xdr.ScVal.scvSymbol('kept'), xdr.ScVal.scvBool(true))
          return undefined
        },
      })
      const good = await desk.prepare(alice, new Contract(silent).call('keep'))
      const spent = nonRefundableFee(dataOf(good).resources, good.toEnvelope().toXdr().length)
      const bad = desk.vary(good, alice, { data: (data) => data.setResourceFee(spent + 1n) })
      expect(await desk.apply(bad)).toEqual(['txFailed', 'invokeHostFunctionInsufficientRefundableFee'])
    })

    test('a call that leaves nothing for rent and events fails', async () => {
      const alice = desk.person()
      const good = await desk.prepare(alice, increment(desk.ledger.contract(COUNTER), alice))
      const size = good.toEnvelope().toXdr().length
      const spent = nonRefundableFee(dataOf(good).resources, size)
      const bad = desk.vary(good, alice, { data: (data) => data.setResourceFee(spent + 1n) })
      expect(await desk.apply(bad)).toEqual(['txFailed', 'invokeHostFunctionInsufficientRefundableFee'])
    })

    test('a call without resources, and one beside another operation, are malformed', async () => {
      const alice = desk.person()
      const operation = increment(desk.ledger.contract(COUNTER), alice)
      const bare = await desk.send(desk.build(alice, [operation]))
      expect(codesOf(bare.errorResult)).toEqual(['txMalformed'])
      expect(bare.errorResult?.feeCharged).toBe(0n)
      const good = await desk.prepare(alice, operation)
      const beside = Operation.bumpSequence({ bumpTo: '0' })
      const two = desk.vary(good, alice, { operations: [...good.tx.operations, beside] })
      expect(codesOf((await desk.send(two)).errorResult)).toEqual(['txMalformed'])
    })
  })

  describe('the contract of the native asset', () => {
    test('moves the same money that payments move', async () => {
      const [alice, bob] = [desk.person(), desk.person()]
      const lumens = new Contract(desk.ledger.nativeContract)
      const amount = nativeToScVal(5n * XLM, { type: 'i128' })
      expect(await desk.run(alice, lumens.call('transfer', person(alice), person(bob), amount))).toEqual(
        INVOKED,
      )
      expect(desk.ledger.account(bob.publicKey())?.balance).toBe(1005n * XLM)
      const returned = await desk.ask(alice, lumens.call('balance', person(bob)))
      expect(returned && scValToNative(returned)).toBe(1005n * XLM)
    })

    test('does not move what is not there', async () => {
      const [alice, bob] = [desk.person(), desk.person()]
      const amount = nativeToScVal(1000n * XLM, { type: 'i128' })
      const transfer = new Contract(desk.ledger.nativeContract).call(
        'transfer',
        person(alice),
        person(bob),
        amount,
      )
      expect((await desk.simulate(alice, transfer)).simulation).toMatchObject({
        error: expect.stringContaining('not sufficient'),
      })
    })
  })

  test('an account waits with a contract call or with something else, not with both', async () => {
    const [alice, payer] = [desk.person(), desk.person()]
    const call = await desk.prepare(alice, increment(desk.ledger.contract(COUNTER), alice))
    expect((await desk.send(desk.bump(payer, call, BigInt(call.fee) + 1000n))).status).toBe('PENDING')
    const plain = Operation.bumpSequence({ bumpTo: '0' })
    expect((await desk.send(desk.build(alice, [plain]))).status).toBe('TRY_AGAIN_LATER')
    expect((await desk.send(desk.build(payer, [plain]))).status).toBe('TRY_AGAIN_LATER')
  })
})

describe('the authorisation of a contract call', () => {
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

    test('a third party agrees by a signature, once', async () => {
      const [alice, bob] = [desk.person(), desk.person()]
      const operation = await signedBy(bob, increment(desk.ledger.contract(COUNTER), bob), alice)
      const first = await desk.prepare(alice, operation)
      expect(await desk.apply(first)).toEqual(INVOKED)
      const repeated = desk.vary(first, alice, {})
      expect(await desk.apply(repeated)).toEqual(['txFailed', 'invokeHostFunctionTrapped'])
    })

    test.each([
      [26, false],
      [27, true],
    ])(
      'a signature that names its account is known in protocol %i: %s (CAP-71)',
      async (protocol, isKnown) => {
        const upgraded = await openContractDesk({ protocolVersion: protocol })
        onTestFinished(upgraded.ledger.stop)
        const [alice, bob] = [upgraded.person(), upgraded.person()]
        const call = increment(upgraded.ledger.contract(COUNTER), bob)
        const { simulation } = await upgraded.simulate(alice, call)
        if (!rpc.Api.isSimulationSuccess(simulation)) throw new Error('The simulation failed.')
        const [recorded] = simulation.result?.auth ?? []
        if (recorded?.credentials.type !== 'sorobanCredentialsAddress')
          throw new Error('Nothing is asked for.')
        const sign = (entry: xdr.SorobanAuthorizationEntry) =>
          authorizeEntry(entry, bob, 100, upgraded.ledger.passphrase)
        const { credentials, rootInvocation } = recorded
        const bound = xdr.SorobanCredentials.sorobanCredentialsAddressV2(credentials.address)
        const unsigned = new xdr.SorobanAuthorizationEntry({ credentials: bound, rootInvocation })
        if (call.body.type !== 'invokeHostFunction') throw new Error('This is no call.')
        const { hostFunction: func } = call.body.invokeHostFunctionOp
        const auth = [await sign(unsigned)]
        const answer = await upgraded.simulate(alice, Operation.invokeHostFunction({ func, auth }))
        expect('error' in answer.simulation ? answer.simulation.error : undefined).toEqual(
          isKnown ? undefined : expect.stringContaining('protocol 26 does not know'),
        )
        // A signature of the old form is none of the new one.
        const old = await sign(recorded)
        if (old.credentials.type !== 'sorobanCredentialsAddress') throw new Error('unreachable')
        const relabeled = new xdr.SorobanAuthorizationEntry({
          credentials: xdr.SorobanCredentials.sorobanCredentialsAddressV2(old.credentials.address),
          rootInvocation,
        })
        const operation = Operation.invokeHostFunction({ func, auth: [relabeled] })
        expect((await upgraded.simulate(alice, operation)).simulation).toMatchObject({
          error: expect.any(String),
        })
      },
    )

    test.each([
      ['the signature of a third party', 100, true],
      ['a signature that has expired', 0, false],
    ])('%s authorises nothing', async (_name, lastLedger, isForged) => {
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

    test('a call that a third party has signed for must not have a memo', async () => {
      const [alice, bob] = [desk.person(), desk.person()]
      const operation = await signedBy(bob, increment(desk.ledger.contract(COUNTER), bob), alice)
      const good = await desk.prepare(alice, operation)
      const bad = desk.vary(good, alice, { memo: Memo.text('hello') })
      expect(codesOf((await desk.send(bad)).errorResult)).toEqual(['txSorobanInvalid'])
    })

    test('a call that its source alone has agreed to must not have a memo', async () => {
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
      const auth =
        operation.body.type === 'invokeHostFunction' ? operation.body.invokeHostFunctionOp.auth : []
      expect(auth.map(({ rootInvocation }) => rootInvocation.subInvocations.length)).toEqual([1])
      expect(await desk.run(alice, operation)).toEqual(INVOKED)
    })
  })
})

describe('the life of a contract', () => {
  let desk: ContractDesk
  beforeEach(async () => {
    desk = await openContractDesk()
  })
  afterEach(() => desk.ledger.stop())

  describe('deploying', () => {
    test('code is uploaded, and a contract made of it, with its constructor', async () => {
      const alice = desk.person()
      const wasm = Buffer.from('0061736d01000000', 'hex')
      const name = xdr.ScVal.scvSymbol('name')
      desk.ledger.program(wasm, {
        __constructor: (env, value) => {
          if (value) env.set(name, value)
          return undefined
        },
        name: (env) => env.get(name),
      })
      const upload = await desk.prepare(alice, Operation.uploadContractWasm({ wasm }))
      expect(await desk.apply(upload)).toEqual(INVOKED)
      const uploaded = await desk.look(upload)
      const wasmHash =
        uploaded.status === 'SUCCESS' && uploaded.returnValue && scValToNative(uploaded.returnValue)
      const create = await desk.prepare(
        alice,
        Operation.createCustomContract({
          address: new Address(alice.publicKey()),
          wasmHash,
          salt: Buffer.alloc(32, 1),
          constructorArgs: [xdr.ScVal.scvSymbol('wall-e')],
        }),
      )
      expect(await desk.apply(create)).toEqual(INVOKED)
      const created = await desk.look(create)
      const address =
        created.status === 'SUCCESS' && created.returnValue && scValToNative(created.returnValue)
      const returned = await desk.ask(alice, new Contract(address).call('name'))
      expect(returned && scValToNative(returned)).toBe('wall-e')
    })
  })

  test('code that is no WebAssembly is not uploaded', async () => {
    const upload = Operation.uploadContractWasm({ wasm: Buffer.from('7f454c4602010100', 'hex') })
    const { simulation } = await desk.simulate(desk.person(), upload)
    expect(simulation).toMatchObject({ error: expect.stringContaining('Error(WasmVm, InvalidInput)') })
  })

  describe('the life of entries', () => {
    test('before protocol 23, what is archived must be restored before; the simulation says how', async () => {
      const { ledger } = desk
      desk = await openContractDesk({ protocolVersion: 22, restoresAutomatically: false })
      await ledger.stop()
      const alice = desk.person()
      const contract = desk.ledger.contract(COUNTER)
      const before = await desk.prepare(alice, increment(contract, alice))
      desk.ledger.archive(new Contract(contract).getFootprint())
      expect(await desk.apply(before)).toEqual(['txFailed', 'invokeHostFunctionEntryArchived'])
      const { simulation } = await desk.simulate(alice, increment(contract, alice))
      if (!rpc.Api.isSimulationRestore(simulation)) throw new Error('Nothing is to be restored.')
      const { transactionData, minResourceFee } = simulation.restorePreamble
      const restore = desk.build(alice, [Operation.restoreFootprint({})], {
        fee: String(BigInt(minResourceFee) + 100n),
        change: (builder) => builder.setSorobanData(transactionData.build()),
      })
      expect(await desk.apply(restore)).toEqual(['txSuccess', 'restoreFootprintSuccess'])
      expect(await desk.run(alice, increment(contract, alice))).toEqual(INVOKED)
    })

    test('the call itself restores what it declares as archived (CAP-66)', async () => {
      const alice = desk.person()
      const contract = desk.ledger.contract(COUNTER)
      desk.ledger.archive(new Contract(contract).getFootprint())
      const { draft, simulation } = await desk.simulate(alice, increment(contract, alice))
      expect(rpc.Api.isSimulationRestore(simulation)).toBe(false)
      const ready = rpc.assembleTransaction(draft, simulation).build()
      ready.sign(alice)
      expect(await desk.apply(ready)).toEqual(INVOKED)
    })

    test('a life is made longer', async () => {
      const alice = desk.person()
      const key = new Contract(desk.ledger.contract(COUNTER)).getFootprint()
      const lifeOf = async () => (await desk.client.getLedgerEntries(key)).entries[0]?.liveUntilLedgerSeq
      const short = await lifeOf()
      const change = (builder: TransactionBuilder) =>
        builder.setSorobanData(new SorobanDataBuilder().setReadOnly([key]).build())
      const draft = desk.build(alice, [Operation.extendFootprintTtl({ extendTo: 3_000_000 })], {
        signers: [],
        change,
      })
      const ready = await desk.client.prepareTransaction(draft)
      ready.sign(alice)
      expect(await desk.apply(ready)).toEqual(['txSuccess', 'extendFootprintTtlSuccess'])
      expect([short, await lifeOf()]).toEqual([2_073_600, 3_000_002])
    })
  })
})
