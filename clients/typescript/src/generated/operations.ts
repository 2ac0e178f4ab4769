// Made by scripts/generate.mjs of api/openapi.yaml; do not edit.

import type { CallOptions, Integer, Pages, Query, Schemas, Sent } from "../types.js";

/** A method for each operation of the API but for the three whose answers are streams. */
export interface Operations {
  /** List boards. GET /v1/boards */
  listBoards(options?: Query<"listBoards"> & CallOptions): Pages<Schemas["BoardList"]>;
  /** Show a board. GET /v1/boards/{board} */
  getBoard(board: string, options?: CallOptions): Promise<Schemas["Board"]>;
  /** Create or change a board. PUT /v1/boards/{board} */
  putBoard(board: string, body: Sent<Schemas["BoardRules"]>, options?: { ifMatch?: string | undefined; ifNoneMatch?: string | undefined } & CallOptions): Promise<Schemas["Board"]>;
  /** Change some rules of a board. PATCH /v1/boards/{board} */
  patchBoard(board: string, body: Sent<Schemas["BoardPatch"]>, options?: { ifMatch?: string | undefined } & CallOptions): Promise<Schemas["Board"]>;
  /** Delete a board with all its periods. DELETE /v1/boards/{board} */
  deleteBoard(board: string, options?: CallOptions): Promise<undefined>;
  /** Submit scores. POST /v1/boards/{board}/scores */
  submitScores(board: string, body: Sent<Schemas["Submit"]>, options?: Query<"submitScores"> & { idempotencyKey?: string | undefined } & CallOptions): Promise<Schemas["SubmitResults"]>;
  /** Begin a play. POST /v1/boards/{board}/plays */
  beginPlay(board: string, body?: Sent<Schemas["PlayRequest"]>, options?: CallOptions): Promise<Schemas["Play"]>;
  /** Submit scores to several boards. POST /v1/scores */
  submitMultiBoard(body: Sent<Schemas["MultiBoardSubmit"]>, options?: Query<"submitMultiBoard"> & { idempotencyKey?: string | undefined } & CallOptions): Promise<Schemas["MultiBoardResults"]>;
  /** One member's entry, rank and percentile. GET /v1/boards/{board}/members/{member} */
  getMember(board: string, member: string, options?: Query<"getMember"> & CallOptions): Promise<Schemas["MemberAnswer"]>;
  /** Remove a member's entry. DELETE /v1/boards/{board}/members/{member} */
  removeMember(board: string, member: string, options?: Query<"removeMember"> & CallOptions): Promise<Schemas["Removal"]>;
  /** Hide a member on a board. PUT /v1/boards/{board}/members/{member}/hidden */
  hideMember(board: string, member: string, body: Sent<Schemas["HideRequest"]>, options?: Query<"hideMember"> & CallOptions): Promise<Schemas["Hiding"]>;
  /** Show a hidden member again on a board. DELETE /v1/boards/{board}/members/{member}/hidden */
  restoreMember(board: string, member: string, options?: Query<"restoreMember"> & CallOptions): Promise<undefined>;
  /** Hide a member everywhere. PUT /v1/members/{member}/hidden */
  hideMemberEverywhere(member: string, body: Sent<Schemas["HideRequest"]>, options?: Query<"hideMemberEverywhere"> & CallOptions): Promise<Schemas["Hiding"]>;
  /** Show a hidden member again everywhere. DELETE /v1/members/{member}/hidden */
  restoreMemberEverywhere(member: string, options?: Query<"restoreMemberEverywhere"> & CallOptions): Promise<undefined>;
  /** Hide, show again or remove many members on a board. POST /v1/boards/{board}/moderation */
  moderateMembers(board: string, body: Sent<Schemas["ModerationRequest"]>, options?: CallOptions): Promise<Schemas["Moderated"]>;
  /** Hide or show again many members everywhere. POST /v1/moderation */
  moderateMembersEverywhere(body: Sent<Schemas["ModerationRequest"]>, options?: CallOptions): Promise<Schemas["Moderated"]>;
  /** The hidden members. GET /v1/hidden */
  listHidden(options?: Query<"listHidden"> & CallOptions): Pages<Schemas["HiddenList"]>;
  /** The submissions that wait for an admin. GET /v1/held */
  listHeld(options?: Query<"listHeld"> & CallOptions): Pages<Schemas["HeldList"]>;
  /** One held submission. GET /v1/held/{id} */
  getHeld(id: string, options?: CallOptions): Promise<Schemas["Held"]>;
  /** Enter a held submission. POST /v1/held/{id}/approve */
  approveHeld(id: string, body?: Sent<Schemas["Decision"]>, options?: Query<"approveHeld"> & CallOptions): Promise<Schemas["Held"]>;
  /** Leave a held submission out. POST /v1/held/{id}/reject */
  rejectHeld(id: string, body?: Sent<Schemas["Decision"]>, options?: CallOptions): Promise<Schemas["Held"]>;
  /** What was changed, when and with which key. GET /v1/audit */
  listAudit(options?: Query<"listAudit"> & CallOptions): Pages<Schemas["AuditLog"]>;
  /** The slice around a member. GET /v1/boards/{board}/members/{member}/around */
  getAround(board: string, member: string, options?: Query<"getAround"> & CallOptions): Promise<Schemas["AroundAnswer"]>;
  /** What was submitted for a member. GET /v1/boards/{board}/members/{member}/submissions */
  listSubmissions(board: string, member: string, options?: Query<"listSubmissions"> & CallOptions): Pages<Schemas["SubmissionList"]>;
  /** What a member had in the latest periods. GET /v1/boards/{board}/members/{member}/history */
  getHistory(board: string, member: string, options?: Query<"getHistory"> & CallOptions): Pages<Schemas["HistoryAnswer"]>;
  /** Find members on a board. GET /v1/boards/{board}/members */
  findMembers(board: string, options: Query<"findMembers"> & CallOptions): Pages<Schemas["FoundAnswer"]>;
  /** A member among its friends. GET /v1/boards/{board}/members/{member}/friends */
  getBoardFriends(board: string, member: string, options?: Query<"getBoardFriends"> & CallOptions): Promise<Schemas["FriendsAnswer"]>;
  /** A page of the ranking. GET /v1/boards/{board}/top */
  getTop(board: string, options?: Query<"getTop"> & CallOptions): Pages<Schemas["TopAnswer"]>;
  /** The ranks of given members. POST /v1/boards/{board}/ranks */
  getRanks(board: string, body: Sent<Schemas["MemberList"]>, options?: Query<"getRanks"> & CallOptions): Promise<Schemas["RanksAnswer"]>;
  /** The rank a score would have now. GET /v1/boards/{board}/scores/{score}/rank */
  getScoreRank(board: string, score: Integer, options?: Query<"getScoreRank"> & CallOptions): Promise<Schemas["ScoreRankAnswer"]>;
  /** Histogram of the scores. GET /v1/boards/{board}/distribution */
  getDistribution(board: string, options?: Query<"getDistribution"> & CallOptions): Promise<Schemas["DistributionAnswer"]>;
  /** The periods of a board. GET /v1/boards/{board}/periods */
  listPeriods(board: string, options?: Query<"listPeriods"> & CallOptions): Pages<Schemas["PeriodList"]>;
  /** The places and scores of the first ten over time. GET /v1/boards/{board}/race */
  getRace(board: string, options?: Query<"getRace"> & CallOptions): Promise<Schemas["Race"]>;
  /** What was submitted hour by hour. GET /v1/boards/{board}/activity */
  getActivity(board: string, options?: Query<"getActivity"> & CallOptions): Promise<Schemas["Activity"]>;
  /** A page of several boards ranked as one. GET /v1/rankings/top */
  getMergedTop(options?: Query<"getMergedTop"> & CallOptions): Pages<Schemas["MergedTopAnswer"]>;
  /** All entries of a member on several boards. GET /v1/rankings/members/{member} */
  getMergedMember(member: string, options?: Query<"getMergedMember"> & CallOptions): Promise<Schemas["MergedMemberAnswer"]>;
  /** The slice around a member's best entry. GET /v1/rankings/members/{member}/around */
  getMergedAround(member: string, options?: Query<"getMergedAround"> & CallOptions): Promise<Schemas["MergedAroundAnswer"]>;
  /** What a derived board reflects. GET /v1/boards/{board}/sources */
  getSources(board: string, options?: CallOptions): Promise<Schemas["Derivation"]>;
  /** Rebuild or catch up the Redis copy. POST /v1/boards/{board}/rebuild */
  startRebuild(board: string, body?: Sent<Schemas["Rebuild"]>, options?: Query<"startRebuild"> & CallOptions): Promise<Schemas["Run"]>;
  /** Compare the Redis copy with MySQL. GET /v1/boards/{board}/verify */
  verifyCopy(board: string, options?: Query<"verifyCopy"> & CallOptions): Promise<Schemas["Verification"]>;
  /** How the server and its boards stand. GET /v1/status */
  getStatus(options?: Query<"getStatus"> & CallOptions): Pages<Schemas["StatusAnswer"]>;
  /** Rebuilds and refreshes. GET /v1/runs */
  listRuns(options?: Query<"listRuns"> & CallOptions): Pages<Schemas["RunList"]>;
  /** One run. GET /v1/runs/{id} */
  getRun(id: number, options?: CallOptions): Promise<Schemas["Run"]>;
  /** List keys. GET /v1/keys */
  listKeys(options?: Query<"listKeys"> & CallOptions): Pages<Schemas["KeyList"]>;
  /** Make a key. POST /v1/keys */
  createKey(body: Sent<Schemas["KeyRequest"]>, options?: CallOptions): Promise<Schemas["NewKey"]>;
  /** The key of the request. GET /v1/key */
  getOwnKey(options?: CallOptions): Promise<Schemas["Key"]>;
  /** Who is signed in. GET /v1/session */
  getSession(options?: CallOptions): Promise<Schemas["Session"]>;
  /** Stay signed in with a key. POST /v1/session */
  keepKey(body?: Sent<Schemas["KeptKey"]>, options?: CallOptions): Promise<undefined>;
  /** Sign out. DELETE /v1/session */
  endSession(options?: CallOptions): Promise<undefined>;
  /** Sign in. GET /v1/sign-in */
  beginSignIn(options?: CallOptions): Promise<string>;
  /** Back from the identity provider. GET /v1/sign-in/callback */
  finishSignIn(options?: Query<"finishSignIn"> & CallOptions): Promise<string>;
  /** One key. GET /v1/keys/{id} */
  getKey(id: string, options?: CallOptions): Promise<Schemas["Key"]>;
  /** Change a key. PATCH /v1/keys/{id} */
  changeKey(id: string, body: Sent<Schemas["KeyPatch"]>, options?: CallOptions): Promise<Schemas["Key"]>;
  /** Revoke a key. DELETE /v1/keys/{id} */
  revokeKey(id: string, options?: CallOptions): Promise<undefined>;
  /** Give a key another secret. POST /v1/keys/{id}/rotate */
  rotateKey(id: string, body?: Sent<Schemas["KeyRotation"]>, options?: CallOptions): Promise<Schemas["NewKey"]>;
  /** List endpoints. GET /v1/endpoints */
  listEndpoints(options?: Query<"listEndpoints"> & CallOptions): Pages<Schemas["EndpointList"]>;
  /** One endpoint. GET /v1/endpoints/{name} */
  getEndpoint(name: string, options?: CallOptions): Promise<Schemas["Endpoint"]>;
  /** Create or change an endpoint. PUT /v1/endpoints/{name} */
  putEndpoint(name: string, body: Sent<Schemas["EndpointRequest"]>, options?: CallOptions): Promise<Schemas["Endpoint"]>;
  /** Delete an endpoint. DELETE /v1/endpoints/{name} */
  deleteEndpoint(name: string, options?: CallOptions): Promise<undefined>;
  /** Give an endpoint another secret. POST /v1/endpoints/{name}/rotate */
  rotateEndpoint(name: string, body?: Sent<Schemas["KeyRotation"]>, options?: CallOptions): Promise<Schemas["Endpoint"]>;
  /** Test an endpoint. POST /v1/endpoints/{name}/test */
  testEndpoint(name: string, body?: Sent<Schemas["EndpointTestRequest"]>, options?: CallOptions): Promise<Schemas["EndpointTest"]>;
  /** List deliveries. GET /v1/endpoints/{name}/deliveries */
  listDeliveries(name: string, options?: Query<"listDeliveries"> & CallOptions): Pages<Schemas["DeliveryList"]>;
  /** Deliver events again. POST /v1/endpoints/{name}/replay */
  replayEvents(name: string, body: Sent<Schemas["ReplayRequest"]>, options?: CallOptions): Promise<Schemas["Replayed"]>;
  /** List issuers. GET /v1/issuers */
  listIssuers(options?: Query<"listIssuers"> & CallOptions): Pages<Schemas["IssuerList"]>;
  /** An issuer. GET /v1/issuers/{name} */
  getIssuer(name: string, options?: CallOptions): Promise<Schemas["Issuer"]>;
  /** Make an issuer, or replace its rules. PUT /v1/issuers/{name} */
  putIssuer(name: string, body: Sent<Schemas["IssuerRules"]>, options?: CallOptions): Promise<Schemas["Issuer"]>;
  /** Delete an issuer. DELETE /v1/issuers/{name} */
  deleteIssuer(name: string, options?: CallOptions): Promise<undefined>;
  /** Make a token for a player. POST /v1/tokens */
  createToken(body: Sent<Schemas["TokenRequest"]>, options?: CallOptions): Promise<Schemas["NewToken"]>;
  /** Sign tokens with another key. POST /v1/tokens/rotate */
  rotateTokens(body?: Sent<Schemas["TokenRotation"]>, options?: CallOptions): Promise<undefined>;
  /** From when on a member's tokens are taken. GET /v1/members/{member}/bar */
  getBar(member: string, options?: CallOptions): Promise<Schemas["Bar"]>;
  /** End the tokens of a member. PUT /v1/members/{member}/bar */
  barMember(member: string, body?: Sent<Schemas["BarRequest"]>, options?: CallOptions): Promise<Schemas["Bar"]>;
  /** Take that back. DELETE /v1/members/{member}/bar */
  unbarMember(member: string, options?: CallOptions): Promise<undefined>;
  /** The public keys of this service. GET /.well-known/jwks.json */
  getTokenKeys(options?: CallOptions): Promise<Schemas["TokenKeys"]>;
  /** Find members. GET /v1/members */
  searchMembers(options?: Query<"searchMembers"> & CallOptions): Pages<Schemas["FoundMembers"]>;
  /** A member's profile. GET /v1/members/{member} */
  getProfile(member: string, options?: CallOptions): Promise<Schemas["MemberProfile"]>;
  /** Set a member's profile. PUT /v1/members/{member} */
  putProfile(member: string, body: Sent<Schemas["ProfileFields"]>, options?: CallOptions): Promise<Schemas["MemberProfile"]>;
  /** Change a part of a member's profile. PATCH /v1/members/{member} */
  patchProfile(member: string, body: Sent<Schemas["ProfilePatch"]>, options?: CallOptions): Promise<Schemas["MemberProfile"]>;
  /** Forget a member everywhere. DELETE /v1/members/{member} */
  forgetMember(member: string, options?: CallOptions): Promise<Schemas["Forgetting"] | undefined>;
  /** Take a member's name away. POST /v1/members/{member}/reset-name */
  resetName(member: string, body: Sent<Schemas["NameReset"]>, options?: CallOptions): Promise<Schemas["MemberProfile"]>;
  /** All that is stored of a member. GET /v1/members/{member}/data */
  getMemberData(member: string, options?: CallOptions): Promise<Schemas["MemberData"]>;
  /** A member's standings on many boards. GET /v1/members/{member}/standings */
  getStandings(member: string, options?: Query<"getStandings"> & CallOptions): Promise<Schemas["StandingsAnswer"]>;
  /** A member's friends. GET /v1/members/{member}/friends */
  listFriends(member: string, options?: Query<"listFriends"> & CallOptions): Pages<Schemas["FriendList"]>;
  /** Set a member's friends. PUT /v1/members/{member}/friends */
  putFriends(member: string, body: Sent<Schemas["FriendsGiven"]>, options?: CallOptions): Promise<Schemas["FriendsTotal"]>;
  /** Add friends. POST /v1/members/{member}/friends */
  addFriends(member: string, body: Sent<Schemas["FriendsGiven"]>, options?: CallOptions): Promise<Schemas["FriendsTotal"]>;
  /** Remove a friend. DELETE /v1/members/{member}/friends/{friend} */
  removeFriend(member: string, friend: string, options?: CallOptions): Promise<undefined>;
  /** Whether the process works. GET /livez */
  getLivez(options?: CallOptions): Promise<Schemas["Health"]>;
  /** Whether requests should be sent here. GET /readyz */
  getReadyz(options?: CallOptions): Promise<Schemas["Health"]>;
  /** Metrics for Prometheus. GET /metrics */
  getMetrics(options?: CallOptions): Promise<string>;
  /** This document as JSON. GET /openapi.json */
  getOpenAPI(options?: CallOptions): Promise<Record<string, unknown>>;
  /** This document as YAML. GET /openapi.yaml */
  getOpenAPIYAML(options?: CallOptions): Promise<string>;
  /** This document for people. GET /docs */
  getDocs(options?: CallOptions): Promise<string>;
  /** A document of the manual. GET /docs/{page} */
  getManualPage(page: string, options?: CallOptions): Promise<string | Record<string, unknown>>;
  /** What a problem means. GET /problems/{code} */
  getProblemPage(code: string, options?: CallOptions): Promise<string>;
  /** The public boards. GET / */
  getHome(options?: Query<"getHome"> & CallOptions): Pages<string>;
  /** A public board, live. GET /boards/{board} */
  getBoardPage(board: string, options?: Query<"getBoardPage"> & CallOptions): Promise<string>;
  /** A picture of a public board. GET /boards/{board}/picture.png */
  getBoardPicture(board: string, options?: Query<"getBoardPicture"> & CallOptions): Promise<string>;
  /** The console. GET /console */
  getConsole(options?: CallOptions): Promise<string>;
  /** A script or style of a page. GET /assets/{file} */
  getAsset(file: string, options?: CallOptions): Promise<string>;
}

/** Method and path of each operation. key: an Idempotency-Key goes with it; read: it changes nothing; plain: no numbers to restore. */
export const table = {
  listBoards: "GET /v1/boards",
  getBoard: "GET /v1/boards/{board}",
  putBoard: "PUT /v1/boards/{board}",
  patchBoard: "PATCH /v1/boards/{board}",
  deleteBoard: "DELETE /v1/boards/{board}",
  submitScores: "POST /v1/boards/{board}/scores key",
  beginPlay: "POST /v1/boards/{board}/plays",
  submitMultiBoard: "POST /v1/scores key",
  getMember: "GET /v1/boards/{board}/members/{member}",
  removeMember: "DELETE /v1/boards/{board}/members/{member}",
  hideMember: "PUT /v1/boards/{board}/members/{member}/hidden",
  restoreMember: "DELETE /v1/boards/{board}/members/{member}/hidden",
  hideMemberEverywhere: "PUT /v1/members/{member}/hidden",
  restoreMemberEverywhere: "DELETE /v1/members/{member}/hidden",
  moderateMembers: "POST /v1/boards/{board}/moderation",
  moderateMembersEverywhere: "POST /v1/moderation",
  listHidden: "GET /v1/hidden",
  listHeld: "GET /v1/held",
  getHeld: "GET /v1/held/{id}",
  approveHeld: "POST /v1/held/{id}/approve",
  rejectHeld: "POST /v1/held/{id}/reject",
  listAudit: "GET /v1/audit",
  getAround: "GET /v1/boards/{board}/members/{member}/around",
  listSubmissions: "GET /v1/boards/{board}/members/{member}/submissions",
  getHistory: "GET /v1/boards/{board}/members/{member}/history",
  findMembers: "GET /v1/boards/{board}/members",
  getBoardFriends: "GET /v1/boards/{board}/members/{member}/friends",
  getTop: "GET /v1/boards/{board}/top",
  getRanks: "POST /v1/boards/{board}/ranks read",
  getScoreRank: "GET /v1/boards/{board}/scores/{score}/rank",
  streamPage: "GET /v1/boards/{board}/stream",
  getDistribution: "GET /v1/boards/{board}/distribution",
  listPeriods: "GET /v1/boards/{board}/periods",
  getRace: "GET /v1/boards/{board}/race",
  getActivity: "GET /v1/boards/{board}/activity",
  getMergedTop: "GET /v1/rankings/top",
  getMergedMember: "GET /v1/rankings/members/{member}",
  getMergedAround: "GET /v1/rankings/members/{member}/around",
  getSources: "GET /v1/boards/{board}/sources",
  startRebuild: "POST /v1/boards/{board}/rebuild",
  verifyCopy: "GET /v1/boards/{board}/verify",
  exportEntries: "GET /v1/boards/{board}/export",
  readChanges: "GET /v1/boards/{board}/changes",
  getStatus: "GET /v1/status",
  listRuns: "GET /v1/runs",
  getRun: "GET /v1/runs/{id}",
  listKeys: "GET /v1/keys",
  createKey: "POST /v1/keys",
  getOwnKey: "GET /v1/key",
  getSession: "GET /v1/session",
  keepKey: "POST /v1/session",
  endSession: "DELETE /v1/session",
  beginSignIn: "GET /v1/sign-in",
  finishSignIn: "GET /v1/sign-in/callback",
  getKey: "GET /v1/keys/{id}",
  changeKey: "PATCH /v1/keys/{id}",
  revokeKey: "DELETE /v1/keys/{id}",
  rotateKey: "POST /v1/keys/{id}/rotate",
  listEndpoints: "GET /v1/endpoints",
  getEndpoint: "GET /v1/endpoints/{name}",
  putEndpoint: "PUT /v1/endpoints/{name}",
  deleteEndpoint: "DELETE /v1/endpoints/{name}",
  rotateEndpoint: "POST /v1/endpoints/{name}/rotate",
  testEndpoint: "POST /v1/endpoints/{name}/test",
  listDeliveries: "GET /v1/endpoints/{name}/deliveries",
  replayEvents: "POST /v1/endpoints/{name}/replay",
  listIssuers: "GET /v1/issuers",
  getIssuer: "GET /v1/issuers/{name}",
  putIssuer: "PUT /v1/issuers/{name}",
  deleteIssuer: "DELETE /v1/issuers/{name}",
  createToken: "POST /v1/tokens",
  rotateTokens: "POST /v1/tokens/rotate",
  getBar: "GET /v1/members/{member}/bar",
  barMember: "PUT /v1/members/{member}/bar",
  unbarMember: "DELETE /v1/members/{member}/bar",
  getTokenKeys: "GET /.well-known/jwks.json",
  searchMembers: "GET /v1/members",
  getProfile: "GET /v1/members/{member}",
  putProfile: "PUT /v1/members/{member}",
  patchProfile: "PATCH /v1/members/{member}",
  forgetMember: "DELETE /v1/members/{member}",
  resetName: "POST /v1/members/{member}/reset-name",
  getMemberData: "GET /v1/members/{member}/data",
  getStandings: "GET /v1/members/{member}/standings",
  listFriends: "GET /v1/members/{member}/friends",
  putFriends: "PUT /v1/members/{member}/friends",
  addFriends: "POST /v1/members/{member}/friends",
  removeFriend: "DELETE /v1/members/{member}/friends/{friend}",
  getLivez: "GET /livez",
  getReadyz: "GET /readyz",
  getMetrics: "GET /metrics",
  getOpenAPI: "GET /openapi.json plain",
  getOpenAPIYAML: "GET /openapi.yaml",
  getDocs: "GET /docs",
  getManualPage: "GET /docs/{page} plain",
  getProblemPage: "GET /problems/{code}",
  getHome: "GET /",
  getBoardPage: "GET /boards/{board}",
  getBoardPicture: "GET /boards/{board}/picture.png",
  getConsole: "GET /console",
  getAsset: "GET /assets/{file}",
} as const;

/** The properties with 64-bit integers, the properties with maps of them, and the properties whose names are the caller's own. */
export const wide = new Set(["above", "from", "max_delta", "max_score", "min_score", "new_score", "new_tiebreak", "per_second", "previous_score", "score", "tiebreak", "to"]);
export const wideMaps = new Set(["add", "fields", "set"]);
export const open = new Set(["after", "attributes", "before", "checks", "data", "labels", "metadata"]);
