import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { checkRequest } from '../../../src/chains/solana/check.ts'
import { loadContract } from '../../../src/contract/document.ts'
import { createValidator } from '../../../src/contract/validator.ts'
import { isSolanaRequest, readSolanaRequest } from '../../../src/handlers/read/request.ts'
import { accountWith } from './build.ts'

const document = parse(await readFile(new URL('../../../openapi.yaml', import.meta.url), 'utf8')) as {
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>
}
const validator = createValidator(await loadContract())

interface Operation {
  readonly requestBody: {
    readonly content: Readonly<Record<string, { readonly examples: Readonly<Record<string, Example>> }>>
  }
}

interface Example {
  readonly value: object
}

test.each(['solana_encoded', 'solana_instructions'])(
  'the example %s passes the contract and the check',
  (name) => {
    const { post } = document.paths['/api/v1/relayers/{relayer_id}/transactions'] ?? {}
    const body = post?.requestBody.content['application/json']?.examples[name]?.value
    const validation = validator.request('sendTransaction', {
      path: { relayer_id: 'r' },
      querystring: '',
      body,
    })
    if (validation.kind !== 'valid') throw new Error(JSON.stringify(validation))
    const valid = validation.input.body as Parameters<typeof isSolanaRequest>[0]
    if (!isSolanaRequest(valid)) throw new Error('not a body of group B')
    expect(checkRequest(readSolanaRequest(valid), accountWith())).toBeUndefined()
  },
)
