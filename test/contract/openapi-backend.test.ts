import { type Document, OpenAPIRouter, OpenAPIValidator } from 'openapi-backend'
import { describe, expect, test } from 'vitest'

/**
 * What openapi-backend cannot do, and src/contract therefore does itself. A test that fails here after an update of openapi-backend names
 * code of ours that may go.
 */

const definition = {
  openapi: '3.1.0',
  info: { title: '', version: '' },
  paths: {
    '/things': {
      post: {
        operationId: 'changeThing',
        parameters: [{ name: 'limit', in: 'query', schema: { type: 'integer' } }],
        requestBody: { content: { 'application/json': { schema: { type: 'string' } } } },
        responses: { '200': { description: '', content: { 'text/plain': { schema: { const: 'OK' } } } } },
      },
    },
  },
} as unknown as Document

const router = new OpenAPIRouter({ definition })
const validator = new OpenAPIValidator({ definition })
const request = { method: 'POST', path: '/things', headers: { 'content-type': 'application/json' } }

describe('openapi-backend', () => {
  test('rounds the integers of a body', () => {
    const { requestBody } = router.parseRequest({ ...request, body: '{"value":9007199254740993}' })
    expect(requestBody.value).toBe(9007199254740992)
  })

  test('reads a body that was parsed to a text once more, and refuses it', () => {
    expect(validator.validateRequest({ ...request, body: 'text' }).errors).toMatchObject([
      { keyword: 'parse' },
    ])
  })

  test('takes texts of a query for integers that the contract refuses', () => {
    for (const limit of ['1e3', '0x10', ' 1 '])
      expect(validator.validateRequest({ ...request, query: { limit }, body: '"x"' }).valid).toBe(true)
  })

  test('accepts an answer of an undeclared status, and of a media type other than JSON', () => {
    expect(validator.validateResponse({}, 'changeThing', 418).valid).toBe(true)
    expect(validator.validateResponse('KO', 'changeThing', 200).valid).toBe(true)
  })

  test('makes the list of the operations again for each request', () => {
    expect(router.getOperations()).not.toBe(router.getOperations())
  })
})
