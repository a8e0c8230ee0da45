import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { checkRequest } from '../../../src/chains/stellar/check/request.ts'
import { encodeNamedArgs } from '../../../src/chains/stellar/contract-spec/named-args.ts'
import { ASSET_CONTRACT } from '../../../src/chains/stellar/contract-spec/read-contract-spec.ts'
import { loadContract } from '../../../src/contract/document.ts'
import { parseJson } from '../../../src/contract/exact-integers.ts'
import type { Input } from '../../../src/contract/operations.ts'
import { createValidator } from '../../../src/contract/validator.ts'
import { isStellarRequest, readStellarRequest } from '../../../src/handlers/read/request.ts'
import { accountWith, known, NETWORK } from './build.ts'

interface Schema {
  readonly examples?: readonly { readonly type: string }[]
  readonly oneOf?: readonly { readonly $ref: string }[]
}

const document = parse(await readFile(new URL('../../../openapi.yaml', import.meta.url), 'utf8')) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}
const { schemas } = document.components
const validator = createValidator(await loadContract())

/** The schemas of all operations, by their names. */
const operations = (schemas.OperationSpec?.oneOf ?? []).map(({ $ref }) => $ref.split('/').at(-1) ?? '')

describe('the examples of the document', () => {
  test.each(operations)('%s passes the contract and the check', async (name) => {
    const examples = schemas[name]?.examples ?? []
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) {
      const body = parseJson(JSON.stringify({ network: NETWORK.name, operations: [example] }))
      const validation = validator.request('sendTransaction', {
        path: { relayer_id: 'r' },
        querystring: '',
        body,
      })
      if (validation.kind !== 'valid') throw new Error(JSON.stringify(validation))
      const valid = validation.input.body as Input<'sendTransaction'>['body']
      if (!isStellarRequest(valid)) throw new Error('not a body of group C')
      // The examples with named arguments call the contract of an asset.
      const spec = { kind: 'ok', value: ASSET_CONTRACT } as const
      const encoded = known(await encodeNamedArgs(async () => spec, readStellarRequest(valid)))
      expect(checkRequest(encoded, accountWith(), NETWORK)).toBeUndefined()
    }
  })
})
