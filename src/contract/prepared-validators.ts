import type { ValidateFunction } from 'ajv'

/**
 * The validators of all request schemas, by the names that `nameOf` gives them. A build replaces this file by
 * their code (prepare-validators.ts), so that AJV compiles nothing when the built program starts or answers.
 * The sources have none, and compile them.
 */
export const PREPARED: Readonly<Record<string, ValidateFunction>> | undefined = undefined
