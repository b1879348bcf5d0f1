//! Functions that a query may call, and words that may stand before a parenthesis.
//!
//! The names of all dialects are in one list: what only computes in one of them is no danger in
//! another, because nobody names a function of their own like that without replacing it.

use super::SqlDialect;

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    /// Computes from its arguments, or tells something about the server.
    Computes,
    /// Reads the file that its first argument names.
    ReadsFiles,
    /// Changes settings, counters, locks or other sessions.
    Changes,
    /// Removes something.
    Destroys,
    /// Runs commands, reads or writes files of the machine, loads code or connects elsewhere.
    Runs,
}

/// The function of that name, in lower case, if it is known.
pub(super) fn function(name: &[u8], dialect: SqlDialect) -> Option<Function> {
    if let Some(pragma) = name.strip_prefix(b"pragma_") {
        let shows =
            pragma.ends_with(b"_info") || pragma.ends_with(b"_list") || pragma.ends_with(b"_xinfo");
        return shows.then_some(Function::Computes);
    }
    if dialect == SqlDialect::DuckDb && (name.starts_with(b"read_") || is_file_reader(name)) {
        return Some(Function::ReadsFiles);
    }
    if name.starts_with(b"dblink") || name.starts_with(b"pg_ls_") || name.starts_with(b"pg_file_") {
        return Some(Function::Runs);
    }
    Some(match name {
        b"azureblobstorage"
        | b"edit"
        | b"eval"
        | b"executable"
        | b"file"
        | b"fts3_tokenizer"
        | b"gcs"
        | b"getenv"
        | b"hdfs"
        | b"input"
        | b"jdbc"
        | b"lo_export"
        | b"lo_import"
        | b"load_extension"
        | b"load_file"
        | b"mongodb"
        | b"mysql"
        | b"odbc"
        | b"pg_cancel_backend"
        | b"pg_promote"
        | b"pg_read_binary_file"
        | b"pg_read_file"
        | b"pg_reload_conf"
        | b"pg_rotate_logfile"
        | b"pg_stat_file"
        | b"pg_switch_wal"
        | b"pg_terminate_backend"
        | b"postgresql"
        | b"readfile"
        | b"redis"
        | b"remote"
        | b"remotesecure"
        | b"s3"
        | b"sqlite"
        | b"sys_eval"
        | b"sys_exec"
        | b"url"
        | b"writefile" => Function::Runs,
        b"get_lock"
        | b"nextval"
        | b"pg_advisory_lock"
        | b"pg_advisory_unlock"
        | b"pg_advisory_xact_lock"
        | b"pg_notify"
        | b"pg_stat_reset"
        | b"pg_try_advisory_lock"
        | b"release_lock"
        | b"set_config"
        | b"setval" => Function::Changes,
        b"lo_unlink" | b"pg_drop_replication_slot" => Function::Destroys,
        _ => {
            let name = std::str::from_utf8(name).ok()?;
            COMPUTES.binary_search(&name).ok()?;
            Function::Computes
        }
    })
}

fn is_file_reader(name: &[u8]) -> bool {
    matches!(
        name,
        b"glob"
            | b"parquet_file_metadata"
            | b"parquet_metadata"
            | b"parquet_scan"
            | b"parquet_schema"
            | b"sniff_csv"
            | b"st_read"
    )
}

/// Whether a word is no function although a parenthesis follows it: a keyword or a type.
pub(super) fn may_precede_parenthesis(word: &[u8]) -> bool {
    std::str::from_utf8(word).is_ok_and(|word| KEYWORDS.binary_search(&word).is_ok())
}

// INVARIANT: both lists stay sorted; they are searched by halves.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "all", "and", "any", "array", "as", "asof", "between", "bigint", "binary", "bit", "by", "case",
    "character", "columns", "cross", "cube", "date", "datetime", "dec", "decimal", "distinct",
    "double", "else", "enum", "except", "exclude", "exists", "filter", "final", "float", "for",
    "from", "group", "having", "ilike", "in", "index", "inner", "int", "integer", "intersect",
    "interval", "is", "join", "json", "key", "lateral", "like", "limit", "materialized", "minus",
    "natural", "not", "null", "numeric", "nvarchar", "offset", "on", "only", "or", "order", "outer",
    "over", "overlaps", "partition", "prewhere", "primary", "qualify", "real", "regexp",
    "returning", "rlike", "rollup", "rows", "sample", "select", "separator", "sets", "similar",
    "some", "straight_join", "then", "time", "timestamp", "timestamptz", "tinyint", "union",
    "unique", "using", "values", "varbinary", "varbit", "varchar", "varying", "when", "where",
    "window", "with", "within", "xor",
];

#[rustfmt::skip]
const COMPUTES: &[&str] = &[
    "abs", "acos", "acosh", "age", "any_value", "anyif", "anylast", "approx_count_distinct",
    "approx_quantile", "arg_max", "arg_min", "argmax", "argmin", "array", "array_agg",
    "array_append", "array_cat", "array_contains", "array_dims", "array_distinct", "array_length",
    "array_lower", "array_ndims", "array_position", "array_positions", "array_prepend",
    "array_remove", "array_replace", "array_sort", "array_to_json", "array_to_string",
    "array_upper", "arrayconcat", "arraycount", "arraydistinct", "arrayelement", "arrayexists",
    "arrayfilter", "arrayjoin", "arraymap", "arrayreverse", "arrayslice", "arraysort",
    "arraystringconcat", "arraysum", "arrayzip", "ascii", "asin", "asinh", "atan", "atan2", "avg",
    "avgif", "base64", "bin", "bit_and", "bit_count", "bit_length", "bit_or", "bit_xor", "bm25",
    "bool_and", "bool_or", "btrim", "cardinality", "cast", "cbrt", "ceil", "ceiling", "changes",
    "char", "char_length", "character_length", "charset", "chr", "clock_timestamp", "coalesce",
    "col_description", "collation", "concat", "concat_ws", "connection_id", "contains", "convert",
    "convert_from", "convert_to", "convert_tz", "corr", "cos", "cosh", "cot", "count", "count_big",
    "countdistinct", "countif", "covar_pop", "covar_samp", "crc32", "cume_dist", "curdate",
    "current_catalog", "current_database", "current_date", "current_query", "current_role",
    "current_schema", "current_schemas", "current_setting", "current_time", "current_timestamp",
    "current_user", "currval", "curtime", "database", "date", "date_add", "date_bin", "date_diff",
    "date_format", "date_part", "date_sub", "date_trunc", "dateadd", "datediff", "datename",
    "datepart", "datetime", "day", "dayname", "dayofmonth", "dayofweek", "dayofyear", "decode",
    "degrees", "dense_rank", "dictget", "div", "elt", "empty", "encode", "ends_with", "endswith",
    "epoch", "epoch_ms", "every", "exp", "extract", "extractvalue", "field", "find_in_set", "first",
    "first_value", "flatten", "float", "floor", "format", "format_bytes", "format_type",
    "formatdatetime", "formatreadablequantity", "formatreadablesize", "formatreadabletimedelta",
    "found_rows", "from_base64", "from_days", "from_unixtime", "gcd", "gen_random_uuid",
    "generate_series", "generate_subscripts", "get_bit", "get_byte", "getdate", "glob", "greatest",
    "group_concat", "grouparray", "grouping", "groupuniqarray", "has", "has_column_privilege",
    "has_database_privilege", "has_function_privilege", "has_schema_privilege",
    "has_table_privilege", "hasall", "hasany", "hash", "hex", "highlight", "histogram", "hour",
    "if", "ifnull", "iif", "inet6_aton", "inet6_ntoa", "inet_aton", "inet_client_addr",
    "inet_client_port", "inet_ntoa", "inet_server_addr", "inet_server_port", "initcap", "instr",
    "int", "isfinite", "isnan", "isnotnull", "isnull", "json", "json_agg", "json_array",
    "json_array_elements", "json_array_elements_text", "json_array_length", "json_arrayagg",
    "json_build_array", "json_build_object", "json_contains", "json_contains_path", "json_depth",
    "json_each", "json_each_text", "json_error_position", "json_extract", "json_extract_path",
    "json_extract_path_text", "json_extract_string", "json_group_array", "json_group_object",
    "json_insert", "json_keys", "json_length", "json_merge_patch", "json_merge_preserve",
    "json_object", "json_object_agg", "json_object_keys", "json_objectagg", "json_overlaps",
    "json_patch", "json_pretty", "json_query", "json_quote", "json_remove", "json_replace",
    "json_search", "json_set", "json_strip_nulls", "json_table", "json_to_record",
    "json_to_recordset", "json_transform", "json_tree", "json_type", "json_typeof", "json_unquote",
    "json_valid", "json_value", "jsonb_agg", "jsonb_array_elements", "jsonb_array_elements_text",
    "jsonb_array_length", "jsonb_build_array", "jsonb_build_object", "jsonb_each",
    "jsonb_each_text", "jsonb_extract_path", "jsonb_extract_path_text", "jsonb_insert",
    "jsonb_object_agg", "jsonb_object_keys", "jsonb_path_exists", "jsonb_path_match",
    "jsonb_path_query", "jsonb_path_query_array", "jsonb_path_query_first", "jsonb_pretty",
    "jsonb_set", "jsonb_strip_nulls", "jsonb_to_record", "jsonb_to_recordset", "jsonb_typeof",
    "jsonextract", "jsonextractfloat", "jsonextractint", "jsonextractkeys", "jsonextractraw",
    "jsonextractstring", "jsonhas", "julian", "julianday", "justify_days", "justify_hours",
    "justify_interval", "lag", "last", "last_day", "last_insert_rowid", "last_value", "lastval",
    "lcase", "lcm", "lead", "least", "left", "len", "length", "levenshtein", "like", "likelihood",
    "likely", "list", "list_aggregate", "list_contains", "list_distinct", "list_filter",
    "list_sort", "list_transform", "list_value", "ln", "localtime", "localtimestamp", "locate",
    "log", "log10", "log2", "lower", "lowerutf8", "lpad", "ltrim", "make_date", "make_interval",
    "make_time", "make_timestamp", "make_timestamptz", "makedate", "maketime", "map", "map_keys",
    "map_values", "max", "maxif", "md5", "median", "microsecond", "mid", "min", "minif", "minute",
    "mod", "mode", "month", "monthname", "multiif", "neighbor", "notempty", "now", "nth_value",
    "ntile", "nullif", "num_nonnulls", "num_nulls", "numbers", "nvl", "obj_description", "oct",
    "octet_length", "ord", "overlay", "parse_ident", "percent_rank", "percentile_cont",
    "percentile_disc", "period_diff", "pg_backend_pid", "pg_blocking_pids", "pg_char_to_encoding",
    "pg_client_encoding", "pg_column_size", "pg_conf_load_time", "pg_current_wal_lsn",
    "pg_database_size", "pg_encoding_to_char", "pg_function_is_visible", "pg_get_constraintdef",
    "pg_get_expr", "pg_get_function_arguments", "pg_get_function_identity_arguments",
    "pg_get_function_result", "pg_get_functiondef", "pg_get_indexdef", "pg_get_keywords",
    "pg_get_partkeydef", "pg_get_ruledef", "pg_get_serial_sequence", "pg_get_triggerdef",
    "pg_get_userbyid", "pg_get_viewdef", "pg_indexes_size", "pg_is_in_recovery",
    "pg_last_wal_receive_lsn", "pg_last_wal_replay_lsn", "pg_last_xact_replay_timestamp",
    "pg_lock_status", "pg_postmaster_start_time", "pg_relation_filenode", "pg_relation_size",
    "pg_size_bytes", "pg_size_pretty", "pg_sleep", "pg_stat_get_activity", "pg_table_is_visible",
    "pg_table_size", "pg_tablespace_size", "pg_total_relation_size", "pg_type_is_visible",
    "pg_typeof", "pg_wal_lsn_diff", "pi", "position", "positioncaseinsensitive", "pow", "power",
    "printf", "quantile", "quantile_cont", "quantile_disc", "quantileexact", "quantiles", "quarter",
    "quote", "quote_ident", "quote_literal", "quote_nullable", "radians", "rand", "rand32",
    "random", "randomblob", "randomuuid", "range", "rank", "regexp_count", "regexp_extract",
    "regexp_extract_all", "regexp_full_match", "regexp_instr", "regexp_like", "regexp_match",
    "regexp_matches", "regexp_replace", "regexp_split_to_array", "regexp_split_to_table",
    "regexp_substr", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2",
    "regr_slope", "repeat", "replace", "replaceall", "replaceone", "replaceregexpall",
    "replaceregexpone", "reverse", "right", "round", "row", "row_count", "row_number",
    "row_to_json", "rowid", "rpad", "rtrim", "runningdifference", "schema", "sec_to_time", "second",
    "session_user", "setseed", "sha", "sha1", "sha2", "sha224", "sha256", "sha384", "sha512",
    "sign", "sin", "sinh", "sleep", "snippet", "soundex", "space", "split", "split_part",
    "splitbychar", "splitbystring", "sqlite_compileoption_get", "sqlite_compileoption_used",
    "sqlite_source_id", "sqlite_version", "sqrt", "starts_with", "startswith",
    "statement_timestamp", "std", "stddev", "stddev_pop", "stddev_samp", "str_to_date", "strcmp",
    "strftime", "string_agg", "string_split", "string_to_array", "strip_accents", "strlen",
    "strpos", "strptime", "struct_extract", "struct_pack", "subdate", "substr", "substring",
    "substring_index", "substringutf8", "subtime", "sum", "sumif", "sysdate", "system_user", "tan",
    "tanh", "time", "time_format", "time_to_sec", "timediff", "timeofday", "timestamp",
    "timestampadd", "timestampdiff", "timezone", "to_ascii", "to_base64", "to_bin", "to_char",
    "to_date", "to_days", "to_hex", "to_json", "to_jsonb", "to_number", "to_regclass", "to_regtype",
    "to_seconds", "to_timestamp", "to_tsquery", "to_tsvector", "todate", "todatetime",
    "todatetime64", "today", "todayofmonth", "todayofweek", "todecimal64", "tofloat32", "tofloat64",
    "tohour", "toint16", "toint32", "toint64", "toint8", "tointervalday", "tointervalhour",
    "tominute", "tomonday", "tomonth", "topk", "tosecond", "tostartofday",
    "tostartoffifteenminutes", "tostartoffiveminutes", "tostartofhour", "tostartofinterval",
    "tostartofminute", "tostartofmonth", "tostartofquarter", "tostartofweek", "tostartofyear",
    "tostring", "total", "total_changes", "touint16", "touint32", "touint64", "touint8",
    "tounixtimestamp", "toyear", "toyyyymm", "toyyyymmdd", "transaction_timestamp", "transform",
    "translate", "trim", "trunc", "truncate", "try_cast", "tryconvert", "ts_headline", "ts_rank",
    "ts_rank_cd", "tuple", "tupleelement", "txid_current_if_assigned", "txid_current_snapshot",
    "typeof", "ucase", "unhex", "unicode", "uniq", "uniqcombined", "uniqexact", "uniqif",
    "unix_timestamp", "unixepoch", "unlikely", "unnest", "upper", "upperutf8", "user", "utc_date",
    "utc_time", "utc_timestamp", "uuid", "uuid_generate_v4", "var_pop", "var_samp", "variance",
    "version", "week", "weekday", "weekofyear", "width_bucket", "year", "yearweek", "yesterday",
    "zeroblob", "zeros",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(KEYWORDS.is_sorted() && COMPUTES.is_sorted());
    }
}
