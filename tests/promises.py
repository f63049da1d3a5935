"""What the pages promise, each promise bound to the tests that ask for it.

A row is an id, the page, some words of the page, and the tests, as `folder/file::name` below `tests/` without the `test_` of
functions. `house/test_promises.py` checks that the words are on the page and the tests in the files. Whoever writes a promise
into a page adds its row here.
"""

from __future__ import annotations

from typing import NamedTuple


class Promise(NamedTuple):
    """One promise of one page."""

    id: str
    page: str
    words: str
    tests: tuple[str, ...]


FIGURES = frozenset({"docs/embedded.md", "docs/speed.md"})
"""Pages of figures, which `bench/` makes, and which no test repeats."""


def _rows(page: str, *rows: tuple[str, ...]) -> tuple[Promise, ...]:
    return tuple(Promise(id, page, words, tests) for id, words, *tests in rows)


PROMISES = (
    *_rows(
        "README.md",
        (
            "readme-live",
            "While you save, the console lists it",
            "spine/test_main_job.py::a_tool_file_is_live_as_soon_as_it_is_saved",
            "web/test_web_browser.py::a_saved_file_appears_a_broken_one_is_told_and_a_mended_one_is_live",
        ),
        (
            "readme-six-lines",
            '"roll three dice" works',
            "spine/test_start.py::the_six_lines_of_the_readme_are_the_tool_that_is_tried",
            "spine/test_main_job.py::a_tool_file_is_live_as_soon_as_it_is_saved",
        ),
        (
            "readme-broken",
            "the last version that loaded goes on serving",
            "spine/test_main_job.py::a_broken_edit_leaves_the_last_good_version_serving_and_shows_the_error_with_file_and_line",
            "spine/test_reload.py::broken_saves_in_between_fail_no_call",
        ),
        (
            "readme-described",
            "The name, the description and the schema come from the function",
            "contracts/test_etui_reading.py::a_tool_is_described_whole",
        ),
        ("readme-port", "takes another port", "spine/test_start.py::another_port_and_another_place_reach_the_program"),
        (
            "readme-no-key",
            "No key is needed and no model is downloaded",
            "spine/test_main_job.py::the_shelf_answers_what_a_newcomer_says",
        ),
        (
            "readme-offers",
            "the console offers it by name",
            "agent/test_models.py::keys_in_the_environment_are_offered_by_name",
            "agent/test_models.py::servers_on_loopback_are_found_and_everything_else_is_passed_over",
        ),
        (
            "readme-commands",
            "Each works with a running host and without one",
            "cli/test_cli_life.py::commands_at_the_same_time_on_one_home_all_get_their_answer",
            "cli/test_cli_life.py::ctrl_c_ends_the_call_in_the_running_host_and_the_host_goes_on",
            "cli/test_cli_commands.py::a_call_prints_its_result",
        ),
        (
            "readme-teach",
            "Teaches a sentence to any tool",
            "spine/test_main_job.py::a_tool_that_a_person_taught_a_sentence_is_found_by_it",
            "cli/test_cli_commands.py::teaching_without_a_tool_a_sentence_or_sense_is_told",
        ),
        (
            "readme-doctor",
            "Says what is enforced here",
            "cli/test_cli_commands.py::the_doctor_says_who_enforces_what_and_where_things_are",
        ),
        (
            "readme-held",
            "holds each plugin to the risks that its tools declare",
            "run/test_confine.py::a_grant_holds_against_every_attempt",
        ),
        (
            "readme-exec-asks",
            "asks you first, unless you say otherwise",
            "house/test_gate.py::starting_programs_asks_first",
            "spine/test_cards.py::an_approval_shows_the_exact_arguments_that_run",
        ),
        (
            "readme-no-keys",
            "Workers start with an empty environment",
            "run/test_workers.py::a_worker_gets_nothing_of_the_hosts_environment_but_what_was_granted",
        ),
        (
            "readme-deadline",
            "ends the work, not just the waiting",
            "run/test_native.py::a_blocking_tool_is_really_ended_and_its_owner_sees_where_it_hung",
            "run/test_misbehaviour.py::on_a_timeout_the_whole_tree_is_killed",
        ),
        (
            "readme-unconfined",
            "Etui asks before it runs such a tool",
            "house/test_gate.py::what_this_machine_cannot_enforce_asks_first",
        ),
        (
            "readme-asks-back",
            "asks back when it is unsure",
            "embedded/test_conversation.py::a_missing_argument_is_asked_for_and_the_next_sentence_gives_it",
        ),
        (
            "readme-honest",
            "says so when nothing fits",
            "spine/test_main_job.py::a_question_of_knowledge_gets_an_honest_answer",
            "embedded/test_conversation.py::a_question_of_knowledge_is_declined_honestly",
        ),
    ),
    *_rows(
        "docs/house.md",
        (
            "house-order",
            "A module imports only from lines above its own",
            "house/test_order.py::a_module_imports_only_from_its_own_room_and_from_rooms_before_it",
        ),
        (
            "house-door",
            "Session.call is the only door to a tool",
            "house/test_order.py::only_the_session_reaches_the_gate_and_the_runners",
        ),
        (
            "house-composer",
            "the only module that knows them all",
            "house/test_order.py::a_module_imports_only_from_its_own_room_and_from_rooms_before_it",
        ),
        (
            "house-snapshot",
            "a snapshot, swapped whole",
            "house/test_registry.py::a_swap_says_what_changed",
            "house/test_session.py::the_view_is_the_same_tuple_until_something_changes",
        ),
        (
            "house-inline",
            "confinement, inline",
            "spine/test_added.py::a_typed_function_is_a_tool_of_the_programs_own_process",
            "spine/test_added.py::the_gate_holds_for_it_too",
        ),
        (
            "house-find",
            "naming the nearest",
            "house/test_session.py::an_unknown_tool_is_refused_with_the_nearest_names",
            "house/test_session.py::a_name_that_could_be_two_tools_is_asked_back",
            "house/test_session.py::another_plugins_tool_is_not_taken",
        ),
        (
            "house-prepare",
            "repaired only without loss",
            "test_arguments.py::what_cannot_be_repaired_without_loss_is_refused_with_what_was_expected",
            "house/test_session.py::arguments_that_do_not_fit_never_reach_the_tool",
        ),
        (
            "house-gate",
            "else it ends as needs_approval",
            "house/test_session.py::nobody_there_is_an_end_and_never_a_wait",
            "spine/test_cards.py::a_card_that_nobody_answers_closes_by_itself",
        ),
        (
            "house-journal",
            "a call that acts is written down before it runs",
            "house/test_session.py::a_call_is_written_down_before_it_runs_and_after",
            "store/test_journal.py::who_acts_is_on_the_disk_before_it_runs_and_who_reads_a_moment_later",
            "spine/test_death.py::a_host_killed_while_a_tool_runs_goes_on_after_the_restart",
        ),
        (
            "house-outcome",
            "capped, images and files taken to the store",
            "house/test_session.py::a_long_result_is_capped_and_kept_whole",
            "house/test_session.py::pictures_go_to_the_store_and_never_into_text",
        ),
        (
            "house-one-outcome",
            "Each call gets exactly one outcome",
            "spine/test_main_job.py::many_sessions_call_at_once_and_each_call_has_one_outcome",
            "spine/test_workers_die.py::the_zygote_dies_with_calls_under_way_and_every_one_has_an_end",
            "run/test_workers.py::a_late_answer_is_dropped",
        ),
        (
            "house-crashed",
            "Its process died",
            "spine/test_workers_die.py::a_writing_call_whose_worker_is_killed_is_not_run_again_and_the_next_one_works",
            "run/test_misbehaviour.py::every_way_to_die_is_told_apart",
        ),
        (
            "house-unknown",
            "it may have happened, and it is not run again",
            "spine/test_death.py::a_host_killed_while_a_tool_runs_goes_on_after_the_restart",
        ),
        (
            "house-live",
            "the next call runs the new code while running calls finish in the old",
            "spine/test_reload.py::a_call_under_way_ends_in_the_code_in_which_it_began",
            "spine/test_reload.py::a_file_is_edited_again_and_again_while_everybody_calls_it",
        ),
        (
            "house-half-written",
            "since it may be half written",
            "cases/test_loading.py::the_old_version_serves_while_a_file_is_written_in_steps",
            "cases/test_loading.py::a_new_file_that_comes_in_steps_is_not_called_broken",
        ),
        (
            "house-last-good",
            "the last good version goes on serving, over a restart too",
            "spine/test_main_job.py::the_last_good_version_serves_after_a_restart_too",
        ),
    ),
    *_rows(
        "docs/house.md",
        (
            "house-jobs",
            "a turn of its own, in a chat of its own, with limits of its own",
            "kotoba/test_limits.py::a_job_has_forty_calls_and_six_failures",
            "kotoba/test_jobs.py::the_next_turn_is_told_the_summary_and_the_one_after_is_not",
            "kotoba/test_jobs.py::a_job_may_work_for_an_hour_and_people_take_their_time",
        ),
        (
            "house-jobs-one",
            "One job runs in each conversation",
            "kotoba/test_jobs.py::one_job_runs_beside_a_conversation_and_no_second_one",
            "kotoba/test_jobs.py::a_job_keeps_to_what_its_conversation_was_confined_to",
        ),
        ("house-jobs-cancelled", "`cancel_work` ends it", "kotoba/test_jobs.py::a_job_is_cancelled_with_its_running_call"),
        (
            "house-jobs-death",
            "goes on at the next start",
            "kotoba/test_jobs.py::a_job_that_a_kill_cut_short_goes_on_and_runs_no_call_again",
            "kotoba/test_jobs.py::a_job_that_etui_ended_on_is_told_as_stopped",
        ),
    ),
    *_rows(
        "docs/security.md",
        (
            "security-accounts",
            "A plugin gets one only if you gave it",
            "sapphire/test_accounts.py::accounts_have_the_named_fields_and_an_unknown_scope_none",
            "sapphire/test_accounts.py::a_key_for_a_model_reaches_the_plugin_that_was_given_it",
            "sapphire/test_choosing_browser.py::a_person_keeps_an_account_gives_it_to_a_plugin_and_never_sees_the_secret_again",
        ),
        (
            "security-account-said",
            "the model, the chat and the audit read `•••` in its place",
            "sapphire/test_accounts.py::an_address_in_a_result_reaches_the_model_and_a_kept_secret_does_not",
            "owner/test_hiding.py::what_tools_hooks_and_routes_return_holds_no_secret_of_the_owners",
            "owner/test_hiding.py::lines_progress_and_questions_of_a_running_tool_hold_none_either",
        ),
        (
            "security-sealed",
            "is encrypted as a whole",
            "owner/test_sealed.py::names_and_values_are_readable_nowhere_and_the_key_lies_in_a_file_of_its_own",
            "owner/test_sealed.py::a_passphrase_needs_no_key_file_and_nothing_opens_without_it",
            "owner/test_hiding.py::no_worker_reads_the_sealed_file_or_the_key",
        ),
        (
            "security-sealed-alone",
            "this protects the sealed file where it is copied or read alone",
            "owner/test_sealed.py::names_and_values_are_readable_nowhere_and_the_key_lies_in_a_file_of_its_own",
            "owner/test_sealed.py::a_key_file_that_is_gone_spoilt_or_another_ones_loses_nothing",
        ),
        (
            "security-sealed-anew",
            "is sealed anew at the next start",
            "owner/test_sealed.py::a_passphrase_that_comes_later_takes_the_place_of_the_key_file",
        ),
        (
            "security-sealed-wrong",
            "hands none of it out and writes nothing over",
            "owner/test_sealed.py::a_passphrase_needs_no_key_file_and_nothing_opens_without_it",
            "owner/test_sealed.py::a_key_file_that_is_gone_spoilt_or_another_ones_loses_nothing",
            "owner/test_sealed.py::whatever_became_of_a_file_it_is_called_damaged_and_left_alone",
        ),
        (
            "security-sealed-taken-over",
            "What an older Etui kept in the clear is taken over at the start and removed",
            "owner/test_sealed.py::an_old_file_in_the_clear_is_taken_over_once_and_removed",
            "owner/test_sealed.py::an_old_file_that_cannot_be_taken_over_stays",
        ),
        (
            "security-sealed-told",
            "`etui doctor` says where your secrets lie",
            "owner/test_sealed.py::the_owner_is_told_in_words_where_secrets_lie",
            "owner/test_sealed.py::the_doctor_says_it_and_nobody_is_handed_the_passphrase",
        ),
        (
            "security-jobs",
            "A background job is held to what its conversation was held to",
            "kotoba/test_jobs.py::a_job_keeps_to_what_its_conversation_was_confined_to",
        ),
        (
            "security-never-in-host",
            "Not even to learn what they offer",
            "run/test_workers.py::a_plugin_is_described_in_a_worker_that_goes_again",
            "cases/test_loading.py::an_import_that_never_ends_holds_nobody_up",
        ),
        (
            "security-kernel",
            "which the kernel holds to what the plugin's tools declare",
            "run/test_confine.py::a_grant_holds_against_every_attempt",
            "run/test_confine.py::an_older_landlock_holds_as_well",
        ),
        (
            "security-table",
            "and how names are resolved",
            "run/test_confine.py::a_grant_holds_against_every_attempt",
            "run/test_confine.py::what_is_granted_to_read_can_be_read",
        ),
        (
            "security-opened",
            "is opened by nothing but your word",
            "owner/test_opened.py::a_tool_reads_what_was_opened_to_it_and_nothing_once_it_is_shut",
            "cli/test_cli_plugins.py::the_terminal_opens_and_shuts_a_path_as_it_is_meant_there",
        ),
        (
            "security-opened-not",
            "Into Etui's own folder no plugin is let",
            "owner/test_opened.py::nobody_is_let_into_etuis_own_folder_nor_writes_what_it_runs",
        ),
        (
            "security-together",
            "A plugin's grant is what its tools declare, taken together",
            "contracts/test_etui_reading.py::a_grant_follows_the_risks",
        ),
        (
            "security-environment",
            "no keys, no tokens, nothing of yours",
            "run/test_workers.py::a_worker_gets_nothing_of_the_hosts_environment_but_what_was_granted",
            "run/test_zygote.py::the_zygote_holds_nothing_of_the_host_and_has_one_thread",
        ),
        (
            "security-limits",
            "limits on memory, open files and file size",
            "run/test_misbehaviour.py::two_gigabytes_at_once_are_one_failed_call",
            "run/test_misbehaviour.py::descriptors_are_limited",
            "run/test_misbehaviour.py::an_endless_file_ends",
        ),
        ("security-others", "cannot see or signal other processes", "run/test_confine.py::a_grant_holds_against_every_attempt"),
        (
            "security-prints",
            "goes to the owner's log, never into the conversation",
            "run/test_workers.py::what_a_tool_prints_is_kept_for_the_owner",
        ),
        (
            "security-says",
            "says what is enforced here",
            "cli/test_cli_commands.py::the_doctor_says_who_enforces_what_and_where_things_are",
            "run/test_confine.py::probe_says_what_an_empty_grant_would_get",
        ),
        (
            "security-unconfined",
            "the setting `unconfined` decides",
            "house/test_gate.py::what_this_machine_cannot_enforce_asks_first",
            "run/test_confine.py::without_landlock_a_worker_that_writes_says_that_nothing_holds_it",
        ),
        (
            "security-mcp",
            "it gets a few variables of the environment and those that its table names",
            "kotoba/test_mcp.py::a_server_gets_few_variables_and_its_own_and_its_folder",
        ),
        (
            "security-mcp-asked",
            "Its tools are for background jobs, which must ask for a server by its name",
            "kotoba/test_mcp.py::a_server_that_is_not_active_is_absent_and_a_call_of_it_refused",
            "kotoba/test_mcp.py::a_job_sees_a_server_from_the_step_after_it_asked_for_it_and_another_job_does_not",
        ),
        (
            "security-mcp-orders",
            "A tool whose words try to give the model orders is not offered",
            "kotoba/test_mcp.py::a_text_that_gives_the_model_orders_and_a_name_that_is_none_are_rejected",
        ),
        (
            "security-deadline-kills",
            "a worker that goes on is killed with everything that it started",
            "run/test_misbehaviour.py::what_does_not_end_is_killed_at_its_deadline",
            "run/test_misbehaviour.py::on_a_timeout_the_whole_tree_is_killed",
        ),
        (
            "security-one-failed-call",
            "is one failed call, and the next one works",
            "cases/test_misbehaviours.py::a_misbehaviour_is_one_call_and_the_neighbour_answers",
            "spine/test_workers_die.py::reading_calls_outlive_their_worker_and_the_zygote_under_load",
        ),
        (
            "security-one-door",
            "Every call goes through `Session.call`",
            "house/test_order.py::only_the_session_reaches_the_gate_and_the_runners",
            "web/test_web_api.py::a_try_goes_through_the_door_and_into_the_journal",
        ),
        (
            "security-rules",
            "each has a name that the audit shows",
            "house/test_gate.py::every_rule_has_a_name_and_a_reason_to_give",
            "house/test_docs.py::every_rule_is_named_on_the_security_page",
            "cli/test_cli_commands.py::the_audit_lists_what_ran_and_what_was_refused",
        ),
        (
            "security-default",
            "by default only starting other programs asks",
            "house/test_gate.py::starting_programs_asks_first",
            "house/test_gate.py::what_is_enforced_needs_no_question",
        ),
        (
            "security-exact",
            "the exact arguments that will run",
            "spine/test_cards.py::an_approval_shows_the_exact_arguments_that_run",
            "web/test_web_api.py::a_card_shows_the_exact_arguments_and_what_runs_is_what_was_shown",
        ),
        (
            "security-visible",
            "with control characters made visible",
            "web/test_web_browser.py::an_approval_card_shows_what_would_fool_a_reader",
            "cli/test_cli_person.py::what_a_person_decides_on_cannot_be_forged",
        ),
        (
            "security-always",
            "changed code asks again",
            "spine/test_cards.py::always_for_this_tool_holds_until_its_code_changes_on_disk",
            "spine/test_cards.py::a_yes_to_code_that_changed_while_the_card_was_open_is_asked_again",
        ),
        (
            "security-nobody",
            "the call ends as `needs_approval`",
            "house/test_session.py::nobody_there_is_an_end_and_never_a_wait",
            "cli/test_cli_person.py::with_nobody_at_a_terminal_the_call_ends_as_needs_approval",
        ),
        (
            "security-results",
            "Nothing that a tool or a web page says can grant an approval",
            "spine/test_cards.py::what_a_tool_says_grants_nothing",
        ),
        (
            "security-journal",
            "Every call is in the journal, before it runs if it acts",
            "house/test_session.py::a_call_is_written_down_before_it_runs_and_after",
            "store/test_journal.py::who_acts_is_on_the_disk_before_it_runs_and_who_reads_a_moment_later",
            "spine/test_death.py::a_served_host_goes_on_by_itself_and_a_page_and_the_audit_show_what_became_of_it",
        ),
        (
            "security-masked",
            "by the names of their fields and by their shape",
            "store/test_redact.py::no_secret_comes_through_at_any_depth",
            "store/test_redact.py::secrets_in_text_are_masked_by_name_and_by_shape",
            "web/test_web_api.py::secrets_in_arguments_are_masked_in_steps_and_audit",
        ),
        (
            "security-traceback",
            "the model sees the kind of error and a reference number",
            "run/test_runners.py::of_an_unexpected_exception_only_the_owner_gets_the_text",
        ),
        (
            "security-loopback",
            "It listens on loopback unless you say otherwise",
            "spine/test_start.py::the_console_listens_on_loopback_and_nowhere_else",
        ),
        (
            "security-login",
            "works once and leaves a cookie",
            "web/test_web_tokens.py::a_link_works_once",
            "web/test_web_tokens.py::the_printed_link_signs_a_browser_in_once",
        ),
        (
            "security-host-origin",
            "must name the right host and come from no other site",
            "web/test_web_guard.py::no_path_answers_under_another_name",
            "web/test_web_guard.py::no_path_answers_another_origin_not_even_to_the_owner",
        ),
        (
            "security-csp",
            "A strict content security policy applies",
            "web/test_web_guard.py::every_answer_keeps_the_page_harmless",
            "web/test_web_browser.py::no_tool_can_put_anything_but_words_on_the_page",
        ),
        (
            "security-markdown",
            "no HTML, no picture of the web, and no link whose address is not in sight",
            "web/test_web_browser.py::an_answer_of_a_model_is_set_and_a_tools_words_stand_as_they_are",
            "web/test_web_browser.py::marks_of_an_answer_are_read_in_one_pass_and_wait_for_their_end",
        ),
        (
            "security-model-keys",
            "are never handed to a worker",
            "run/test_workers.py::a_worker_gets_nothing_of_the_hosts_environment_but_what_was_granted",
        ),
    ),
    *_rows(
        "docs/contracts/etui.md",
        (
            "etui-examples-run",
            "A tool is a typed Python function with `@tool` above it",
            "contracts/test_etui_docs.py::a_block_loads_and_does_what_it_says",
        ),
        ("etui-options", "what a person would say", "contracts/test_etui_docs.py::every_option_is_on_the_page"),
        (
            "etui-plain",
            "The function stays an ordinary function",
            "contracts/test_etui_calls.py::a_decorated_function_stays_a_function",
        ),
        (
            "etui-own-plugin",
            "is a plugin of its own",
            "house/test_load.py::a_loose_file_and_a_folder_are_each_a_plugin",
            "contracts/test_etui_reading.py::a_lone_file_is_told_about_its_neighbour",
        ),
        ("etui-siblings", "Its files import each other", "contracts/test_etui_reading.py::siblings_are_found_in_every_way"),
        ("etui-once", "counts once", "contracts/test_etui_reading.py::reexported_tools_count_once_and_helpers_are_no_tools"),
        (
            "etui-standard-names",
            "does not take that module's place",
            "contracts/test_etui_reading.py::a_file_named_as_a_standard_module_does_not_take_its_place",
        ),
        (
            "etui-one-broken",
            "One broken file costs that file",
            "contracts/test_etui_reading.py::one_broken_file_costs_only_itself",
            "contracts/test_etui_reading.py::an_option_of_no_sense_costs_its_tool_only",
        ),
        (
            "etui-docstrings",
            "in Google's, NumPy's or Sphinx's style",
            "contracts/test_etui_schemas.py::docstrings_of_every_style_describe_the_parameters",
        ),
        (
            "etui-safe-name",
            "is offered under a stable, safe one",
            "contracts/test_etui_reading.py::every_offered_name_satisfies_the_strictest_rule",
            "cases/test_names.py::a_shortened_name_is_the_same_after_a_restart",
        ),
        (
            "etui-timeout",
            "then it is stopped for good",
            "run/test_native.py::a_blocking_tool_is_really_ended_and_its_owner_sees_where_it_hung",
        ),
        (
            "etui-arg-timeout",
            "how many seconds this call may take",
            "house/test_session.py::a_deadline_can_be_an_argument_up_to_the_tools_maximum",
        ),
        (
            "etui-interactive",
            "that time does not count",
            "spine/test_cards.py::the_time_that_a_person_takes_does_not_count",
            "spine/test_cards.py::the_deadline_goes_on_once_they_have_answered",
        ),
        (
            "etui-toolset",
            "the family with which it is switched on and off",
            "house/test_gate.py::what_is_switched_off_does_not_run",
        ),
        (
            "etui-risks",
            "also write the working folder",
            "contracts/test_etui_reading.py::a_grant_follows_the_risks",
            "run/test_confine.py::a_grant_holds_against_every_attempt",
        ),
        (
            "etui-hints",
            "`str`, `int`, `float`, `bool`",
            "contracts/test_etui_schemas.py::each_kind_of_hint",
            "cases/test_schemas.py::what_is_declared_is_offered_and_arrives",
        ),
        (
            "etui-no-hint",
            "takes any JSON value, with a warning",
            "contracts/test_etui_schemas.py::a_parameter_without_a_hint_takes_anything_with_a_warning",
        ),
        (
            "etui-bad-hint",
            "costs its tool, and the reason names the parameter",
            "contracts/test_etui_schemas.py::a_hint_that_cannot_be_offered_costs_its_tool_only",
        ),
        (
            "etui-repair",
            "towards the declared type only",
            "test_arguments.py::a_value_is_repaired_towards_its_declared_type",
            "test_arguments.py::text_stays_exactly_the_text_that_was_sent",
        ),
        (
            "etui-dropped",
            "Names that the tool does not take are dropped",
            "test_arguments.py::invented_arguments_are_dropped_and_noted",
        ),
        (
            "etui-told",
            "the model is told which argument, and",
            "contracts/test_etui_schemas.py::what_the_function_cannot_take_is_a_refusal_with_its_path",
            "test_arguments.py::several_faults_are_told_at_once_and_long_values_are_cut",
        ),
        ("etui-bool", "are the only words for a `bool`", "cases/test_arguments.py::a_boolean_is_never_guessed"),
        (
            "etui-results",
            "arrive as themselves, NaN and infinity as null",
            "contracts/test_etui_calls.py::every_value_reaches_the_model_as_itself",
        ),
        ("etui-bytes", "they never become text", "contracts/test_etui_calls.py::pictures_and_bytes_are_taken_out_of_the_text"),
        (
            "etui-endings",
            "`Refusal` means that nothing was done",
            "contracts/test_etui_calls.py::each_way_to_go_wrong_has_one_end",
            "spine/test_added.py::refusals_failures_and_wrong_arguments_end_as_they_do_in_a_worker",
        ),
        ("etui-exit", "`sys.exit` is one failed call", "cases/test_loading.py::ending_the_program_is_one_failed_call"),
        (
            "etui-undo",
            "A write that can be taken back says how",
            "embedded/test_conversation.py::undo_calls_what_the_tool_said_undoes_it_and_only_once",
        ),
        (
            "etui-context",
            "given by the host and never shown to a model",
            "contracts/test_etui_schemas.py::a_context_is_given_and_never_shown",
        ),
        (
            "etui-files",
            "names that lead outside are refused",
            "test_jail.py::a_name_that_is_none_inside_is_refused",
            "test_jail.py::links_are_not_followed",
            "test_jail.py::readers_never_see_half_a_file",
        ),
        (
            "etui-state",
            "which loses nobody's write",
            "contracts/test_etui_calls.py::an_update_loses_nobody_s_write",
            "spine/test_added.py::a_context_is_given_with_state_files_and_the_caller",
        ),
        (
            "etui-ask",
            "the answer's `state` is `answered`, `declined` or `nobody`",
            "spine/test_cards.py::a_question_is_answered_in_words_or_by_a_choice",
            "spine/test_cards.py::a_question_is_declined",
            "spine/test_cards.py::where_nobody_is_there_the_tool_is_told_at_once",
        ),
        (
            "etui-remind",
            "also after a restart",
            "spine/test_reminding.py::what_came_due_while_the_host_was_off_is_said_at_the_start_and_stands_in_its_chat",
            "spine/test_reminding.py::a_tool_sets_lists_and_cancels_and_what_is_cancelled_stays_silent",
        ),
        (
            "etui-async",
            "runs in a thread and may block",
            "contracts/test_etui_calls.py::blocking_tools_run_beside_each_other_and_the_loop_goes_on",
            "contracts/test_etui_calls.py::the_context_serves_both_kinds_of_tools",
        ),
    ),
    *_rows(
        "docs/settings.md",
        (
            "settings-table",
            "what it does",
            "house/test_docs.py::the_settings_page_is_made_from_the_table",
            "house/test_docs.py::every_setting_is_read_somewhere",
        ),
        (
            "settings-environment",
            "A variable of the environment stands above the file",
            "house/test_settings.py::the_environment_stands_above_the_file_and_a_program_above_both",
            "cli/test_cli_commands.py::a_setting_that_the_environment_overrides_is_told",
        ),
        (
            "settings-strict",
            "falls back to its strictest value",
            "house/test_settings.py::a_rule_that_cannot_be_read_is_the_strictest",
            "house/test_settings.py::a_file_that_is_no_toml_leaves_the_strictest_rules",
        ),
        (
            "settings-commands",
            "`etui config NAME VALUE` sets one",
            "cli/test_cli_commands.py::settings_are_listed_shown_set_and_unset",
            "web/test_web_api.py::settings_are_set_or_refused_with_a_sentence",
        ),
        (
            "settings-plugin",
            "Plugins have tables of their own",
            "cases/test_running.py::each_plugin_sees_its_own_settings_whatever_the_order",
        ),
        ("settings-sources", "A further folder of plugins", "spine/test_start.py::a_further_folder_is_one_entry"),
        (
            "settings-mcp",
            "An MCP server is a program, or an address",
            "kotoba/test_mcp.py::a_server_made_with_the_official_sdk_speaks_with_it",
            "kotoba/test_mcp.py::a_server_at_an_address_is_reached_with_its_headers_and_again_after_it_forgot",
            "kotoba/test_mcp.py::what_keeps_a_server_from_starting_is_said_and_keeps_nothing_else",
        ),
        (
            "settings-mcp-browser",
            "those of one called `browser` need not be asked for",
            "kotoba/test_mcp.py::the_tools_of_a_browser_arrive_with_their_server_while_the_host_runs",
        ),
    ),
    *_rows(
        "docs/extras.md",
        (
            "extras-install",
            "you turn on the ones that you want",
            "keryx/test_plugins.py::installing_writes_the_files_and_the_tool_is_there_in_the_next_session",
            "cli/test_cli_plugins.py::a_plugin_is_turned_on_with_several_settings_and_removed_with_nobody_there",
            "cli/test_cli_plugins.py::the_list_shows_off_on_and_refused_with_its_reason",
            "cli/test_cli_plugins.py::one_is_shown_with_what_can_be_set_and_which_secrets_it_has",
        ),
        (
            "extras-said",
            "what you can say",
            "keryx/test_plugins.py::a_home_is_talked_to_without_any_model",
        ),
        (
            "extras-home",
            "it never moves a lock, a cover or an alarm",
            "keryx/test_home_assistant.py::what_is_wanted_is_one_call_of_the_documented_service",
            "keryx/test_home_assistant.py::what_is_unclear_is_said_and_nothing_is_done",
        ),
        (
            "extras-search",
            "the address of a SearXNG that gives JSON, or a key of Brave's search",
            "keryx/test_search_web.py::a_searxng_is_asked_for_json_and_its_results_are_plain_text",
            "keryx/test_search_web.py::brave_is_asked_with_the_key_in_its_header",
        ),
        (
            "extras-files",
            "A plugin is a tool file like any other",
            "keryx/test_plugins.py::a_plugins_file_is_judged_as_any_tool_file_is",
            "keryx/test_plugins.py::without_a_source_the_home_has_a_folder_of_its_own",
            "keryx/test_plugins.py::settings_edited_by_hand_count_from_the_next_session",
            "keryx/test_plugins.py::an_edited_tool_file_is_left_alone_and_an_edited_draft_becomes_it",
            "keryx/test_plugins.py::the_settings_are_written_anew_with_their_comments_and_what_is_the_owners_stays",
        ),
        (
            "extras-whole",
            "whole or not at all",
            "keryx/test_plugins.py::a_kill_at_any_moment_leaves_each_file_as_it_was_or_as_it_was_to_be",
        ),
        (
            "extras-template",
            "`--from-settings` turns on what has settings and is off",
            "cli/test_cli_plugins.py::a_template_is_written_to_be_finished_by_hand_and_settings_turn_plugins_on",
        ),
        (
            "extras-secrets",
            "A secret is in neither file and never on a command line",
            "keryx/test_plugins.py::a_secret_reaches_the_plugin_and_no_file_of_the_folder",
            "keryx/test_secrets.py::a_keyring_keeps_them_and_the_file_only_says_which",
            "cli/test_cli_plugins.py::a_secret_on_the_command_line_is_refused_and_in_no_output",
            "cli/test_cli_plugins.py::at_a_terminal_a_secret_is_typed_unseen_and_removing_asks",
        ),
        (
            "extras-owner",
            "what a plugin starts cannot",
            "keryx/test_plugins.py::a_plugin_can_turn_none_on_or_off",
            "cli/test_cli_plugins.py::only_the_owner_turns_a_plugin_on_or_off",
        ),
    ),
    *_rows(
        "docs/security.md",
        (
            "security-reach",
            "Code that lies where a plugin may write is believed by your word alone",
            "sapphire/test_reach.py::a_plugin_that_rewrites_another_one_changes_nothing_until_the_owner_reloads_it",
            "sapphire/test_reach.py::no_plugin_gives_the_owners_word_and_one_cannot_change_itself_either",
            "sapphire/test_reach.py::what_waits_waits_over_a_restart_and_without_the_writer_and_switching_off_and_on_accepts_it",
            "sapphire/test_reach.py::a_word_is_for_the_change_that_the_owner_was_told_of",
            "sapphire/test_reach.py::every_way_by_which_python_finds_a_file_finds_the_accepted_one",
        ),
        (
            "security-reach-live",
            "your edits are live as ever",
            "sapphire/test_reach.py::where_no_plugin_may_write_an_edit_is_live",
            "sapphire/test_reach.py::once_the_writer_is_gone_and_nothing_waits_edits_are_live_again_from_the_next_start_on",
        ),
        (
            "security-reach-work",
            "A source inside the working folder is held the same way",
            "sapphire/test_reach.py::the_working_folder_of_other_tools_holds_no_code_and_a_source_in_it_waits_too",
        ),
        (
            "security-plugin-secrets",
            "only that plugin's worker is handed it",
            "keryx/test_plugins.py::a_secret_reaches_the_plugin_and_no_file_of_the_folder",
            "keryx/test_secrets.py::a_secret_is_handed_to_its_plugin_and_marks_it_changed",
        ),
    ),
)
